import { chmod, cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './settings.js';

/**
 * Copies a configuration file of the local overlay for a server of a test: into a folder that contains its settings, as in the
 * pods, with the container's paths replaced by that folder.
 */
export async function serverFile(
  server: 'nats' | 'redis',
  settings: string,
  moved: readonly (readonly [from: string | RegExp, to: string])[],
): Promise<{ folder: string; file: string }> {
  const folder = await mkdtemp(join(tmpdir(), `${server}-`));
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
