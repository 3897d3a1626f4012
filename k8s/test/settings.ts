import { mkdtemp, rm, chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '#local/servers/run-command.js';
import { findTool } from '#test/support/tool.js';
import { temporaryFolder } from '#local/servers/service-folder.js';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export function makeSettings(folder: string): Promise<void> {
  return runScript(join(ROOT, 'deploy/settings.sh'), folder);
}

export async function runScript(script: string, ...args: string[]): Promise<void> {
  const openssl = await findTool('openssl');
  const env = {
    PATH: [dirname(openssl.command), process.env['PATH']].join(delimiter),
    ...(openssl.libraryPath && { LD_LIBRARY_PATH: openssl.libraryPath }),
  };
  const { code, stderr } = await runCommand('sh', [script, ...args], { env });
  if (code !== 0) throw new Error(`${script}: ${stderr}`);
}

export async function ownSettings(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'));
  await makeSettings(folder);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/**
 * Copies a configuration file of the local overlay together with its settings. Replaces paths in the container by
 * paths in the copy.
 */
export async function serverFile(
  server: 'nats' | 'redis',
  settings: string,
  moved: readonly (readonly [from: string | RegExp, to: string])[],
): Promise<{ folder: string; file: string }> {
  const folder = await temporaryFolder(server);
  await chmod(folder, 0o700);
  await cp(join(settings, server), join(folder, 'settings'), { recursive: true });
  await mkdir(join(folder, 'data'));
  const file = join(folder, `${server}.conf`);
  let text = await readFile(join(ROOT, `k8s/overlays/local/${server}/${server}.conf`), 'utf8');
  for (const [from, to] of moved) {
    if (!text.match(from)) throw new Error(`${server}.conf does not say ${from}`);
    text = text.replace(from, to.replace('FOLDER', folder));
  }
  await writeFile(file, text);
  return { folder, file };
}

export const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://token:secret@db.example.com/oauth',
  REDIS_URL: 'rediss://oauth:secret@redis.example.com:6379',
  NATS_URL: 'tls://token:secret@nats.example.com:4222',
  AUDIT_NATS_URL: 'tls://audit-token:secret@nats.example.com:4222',
  TOKEN_KEYS: 'A'.repeat(43),
  CONSOLE_CLIENT_SECRET: 'A'.repeat(22),
};
