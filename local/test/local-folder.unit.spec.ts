import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localFolder } from '../servers/local-folder.js';

let parent: string;
beforeEach(async () => (parent = await mkdtemp(join(tmpdir(), 'local-folder-'))));
afterEach(async () => rm(parent, { recursive: true }));

const modeOf = async (folder: string) => (await stat(folder)).mode & 0o777;

describe('the folder of data, logs and secrets', () => {
  it('can be traversed by other users only if PostgreSQL runs as another user', async () => {
    const folder = join(parent, '.local');
    await localFolder(folder);
    expect(await modeOf(folder)).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
  });

  it('keeps the mode that its owner gave it', async () => {
    await chmod(parent, 0o750);
    await localFolder(parent);
    expect(await modeOf(parent)).toBe(0o750);
  });
});
