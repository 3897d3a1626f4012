import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '#local/servers/run-command.js';
import { findTool } from '#test/support/tool.js';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Runs deploy/settings.sh into the folder. */
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
