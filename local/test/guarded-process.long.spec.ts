import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { descendantsOf, type SeenProcess, survivorsOf } from '#test/support/process-tree.js';
import { temporaryFolder } from '../servers/service-folder.js';

const REGISTER = fileURLToPath(new URL('../../test/jest/register-typescript.mjs', import.meta.url));
const PARENT = fileURLToPath(new URL('backing-parent.ts', import.meta.url));
const WITHIN = 60_000;

// The order matters: each persistent start continues with the data of the previous test.
describe('a process that started services', () => {
  let directory: string;
  let parent: ChildProcess;
  let exited: Promise<unknown>;
  let lines: AsyncIterator<string>;
  let started: SeenProcess[];

  beforeAll(async () => {
    directory = await temporaryFolder('guard-test');
    await chmod(directory, 0o755);
  });

  afterAll(async () => {
    parent.kill('SIGKILL');
    await survivorsOf(started, WITHIN);
    await rm(directory, { recursive: true, force: true });
  });

  async function start(kind: 'persistent' | 'temporary'): Promise<void> {
    parent = spawn(process.execPath, ['--import', REGISTER, PARENT, directory, kind], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    exited = once(parent, 'exit');
    lines = createInterface(parent.stdout!)[Symbol.asyncIterator]();
    await lines.next();
    started = await descendantsOf(parent.pid!);
    // The children are three servers, three guards, and PostgreSQL's own processes.
    expect(started.length).toBeGreaterThan(6);
  }

  const processLike = (part: RegExp): SeenProcess => {
    const found = started.find(
      ({ command, parent: parentId }) => part.test(command) && parentId === parent.pid,
    );
    if (!found)
      throw new Error(`nothing matches ${part} among ${started.map(({ command }) => command).join('\n')}`);
    return found;
  };

  it('leaves no process and no temporary file when it is killed', async () => {
    await start('temporary');
    const folders = started.flatMap(
      ({ command }) => /\S*scheduling-oauth-(?:nats|postgres)-\w+/.exec(command)?.[0] ?? [],
    );
    expect(folders.length).toBeGreaterThan(0);
    parent.kill('SIGKILL');
    expect(await survivorsOf(started, WITHIN)).toEqual([]);
    for (const folder of folders) await expect(access(folder)).rejects.toThrow('ENOENT');
  });

  it('reports a killed guard, and leaves no process', async () => {
    await start('persistent');
    process.kill(processLike(/ guard \d+/).pid, 'SIGKILL');
    expect((await lines.next()).value).toMatch(/its guard was killed/);
    await exited;
    expect(await survivorsOf(started, WITHIN)).toEqual([]);
  });

  it('leaves no process when a server is killed', async () => {
    await start('persistent');
    process.kill(processLike(/postgres/).pid, 'SIGKILL');
    expect((await lines.next()).value).toBe('PostgreSQL ended: SIGKILL');
    await exited;
    expect(await survivorsOf(started, WITHIN)).toEqual([]);
  });

  it('can be restarted with its data immediately after it is killed', async () => {
    await start('persistent');
    const first = started;
    parent.kill('SIGKILL');
    await start('persistent');
    expect(await survivorsOf(first, WITHIN)).toEqual([]);
  });
});
