import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';

const BUILDING = 'Building: some seconds, the first time more\n';
const MAIN = 'apps/operator/src/main.ts';
const WORD = 'libs/words/src/word.ts';
const PACKAGES = 'node_modules/.package-lock.json';

/** Repository with one app and one library, and with this repository's build. */
let folder: string;

const write = (file: string, text: string) => writeFile(join(folder, file), text);
const build = () => runCommand(process.execPath, ['build.mjs'], { cwd: folder });
const printed = async () =>
  (await runCommand(process.execPath, ['dist/apps/operator.cjs'], { cwd: folder })).stdout;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'build-'));
  for (const path of ['apps/operator/src', 'libs/words/src', 'dev', 'node_modules'])
    await mkdir(join(folder, path), { recursive: true });
  for (const file of ['build.mjs', 'tsconfig.json', 'tsconfig.build.json', 'package.json', PACKAGES])
    await copyFile(file, join(folder, file));
  await cp('local/operator', join(folder, 'local/operator'), { recursive: true });
  for (const name of await readdir('node_modules'))
    if (!name.startsWith('.package'))
      await symlink(resolve('node_modules', name), join(folder, 'node_modules', name));
  await write(MAIN, "import { word } from '../../../libs/words/src/word.js';\nprocess.stdout.write(word);\n");
  await write(WORD, "export const word = 'first';\n");
});

beforeEach(async () => {
  expect(await build()).toMatchObject({ code: 0, stdout: '' });
});

afterAll(() => rm(folder, { recursive: true }));

describe('a build', () => {
  it('does nothing without changes', async () => {
    const before = await filesOfDist();
    expect(await build()).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await filesOfDist()).toEqual(before);
    expect(before.size).toBeGreaterThan(5);
  });

  it.each([
    ['a source file has changed', WORD, "export const word = 'second';\n"],
    ['a source file was added', 'libs/words/src/more.ts', 'export const more = 1;\n'],
    ['a compiler setting has changed', 'tsconfig.build.json', '\n'],
    ['package.json has changed', 'package.json', '\n'],
    ['the build itself has changed', 'build.mjs', '\n'],
    ['other packages were installed', PACKAGES, '\n'],
  ])('runs after %s', async (_, file, text) => {
    if (text === '\n') await appendFile(join(folder, file), text);
    else await write(file, text);
    expect(await build()).toEqual({ code: 0, stdout: '', stderr: BUILDING });
    if (file === WORD) expect(await printed()).toBe('second');
    expect(await build()).toMatchObject({ stderr: '' });
  });

  it('deletes the output of a deleted source', async () => {
    await write('libs/words/src/gone.json', '{ "word": "gone" }\n');
    await write('libs/words/src/gone.ts', "export { default } from './gone.json' with { type: 'json' };\n");
    await build();
    const outputs = ['gone.js', 'gone.js.map', 'gone.json'].map((name) => `dist/libs/words/src/${name}`);
    const found = await filesOfDist();
    expect(outputs.filter((file) => found.has(file))).toEqual(outputs);
    for (const source of ['gone.ts', 'gone.json']) await rm(join(folder, 'libs/words/src', source));
    expect(await build()).toEqual({ code: 0, stdout: '', stderr: BUILDING });
    const remaining = await filesOfDist();
    expect(outputs.filter((file) => remaining.has(file))).toEqual([]);
  });

  it('runs again after a failure, even with the source of the last successful build', async () => {
    await write(WORD, "export const word = 'first';\n");
    await build();
    await write(WORD, "export const word = 'broken'\nexport const wrong: number = 'text';\n");
    const { code, stdout, stderr } = await build();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('libs/words/src/word.ts(2,');
    expect(await build()).toMatchObject({ code: 1 });
    await write(WORD, "export const word = 'first';\n");
    expect(await build()).toMatchObject({ code: 0, stderr: BUILDING });
    expect(await printed()).toBe('first');
  });

  it('replaces an app atomically, so that a process can finish reading the old version', async () => {
    const file = join(folder, 'dist/apps/operator.cjs');
    const reader = await open(file);
    const { size } = await reader.stat();
    await write(WORD, "export const word = 'replaced';\n");
    await build();
    const old = await reader.readFile('utf8');
    await reader.close();
    expect(old).toHaveLength(size);
    expect(old).not.toContain('replaced');
    expect(await printed()).toBe('replaced');
  });

  it('runs once for several concurrent processes', async () => {
    await write(WORD, "export const word = 'together';\n");
    const outcomes = await Promise.all(Array.from({ length: 6 }, build));
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(outcomes.filter(({ stderr }) => stderr.includes(BUILDING))).toHaveLength(1);
    expect(await printed()).toBe('together');
    expect(await readdir(join(folder, 'dist/.build/queue'))).toEqual([]);
  });

  it('waits for a running build, but not for a killed one', async () => {
    await write(WORD, "export const word = 'killed';\n");
    const killed = startBuild();
    await once(killed.stderr, 'data');
    killed.kill('SIGKILL');
    await once(killed, 'close');
    const earlier = join(folder, 'dist/.build/queue/2');
    await symlink(String(process.pid), earlier);
    const waiting = startBuild();
    const ended = once(waiting, 'close');
    let messages = '';
    waiting.stderr.on('data', (data: Buffer) => (messages += data.toString()));
    await once(waiting.stderr, 'data');
    expect(messages).toBe(`Waiting for the build of process ${process.pid}\n`);
    await rm(earlier);
    expect(await ended).toEqual([0, null]);
    expect(await printed()).toBe('killed');
    expect(await readdir(join(folder, 'dist/.build/queue'))).toEqual([]);
  });
});

describe('npx operator', () => {
  it('builds the changed files and runs in the working directory of the caller', async () => {
    await write(MAIN, 'process.stdout.write(`${process.cwd()} ${process.argv.slice(2).join()}`);\n');
    const run = (...args: string[]) =>
      runCommand(process.execPath, ['../local/operator/operator.mjs', ...args], {
        cwd: join(folder, 'libs'),
      });
    const expected = `${join(folder, 'libs')} client,list`;
    expect(await run('client', 'list')).toEqual({ code: 0, stdout: expected, stderr: BUILDING });
    expect(await run('client', 'list')).toEqual({ code: 0, stdout: expected, stderr: '' });
  });

  it('is a command of this repository, not an npm package', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const run = await runCommand('npx', ['--no', '--offline', 'operator', '--version'], {
      cwd: resolve('docs'),
    });
    expect(run).toMatchObject({ code: 0, stdout: `${version}\n` });
  });
});

describe('npm start and npm test', () => {
  it.each(['start', 'test'])(
    'require installed packages, and print the command to install them: %s',
    async (command) => {
      const empty = await mkdtemp(join(folder, 'empty-'));
      await copyFile('package.json', join(empty, 'package.json'));
      const { code, stderr } = await runCommand('npm', [command], { cwd: empty });
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The packages are not installed, or not all of them\. Run: npm ci$/m);
    },
  );
});

function startBuild() {
  return spawn(process.execPath, ['build.mjs'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
}

async function filesOfDist(): Promise<Map<string, number>> {
  const found = await readdir(join(folder, 'dist'), { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      paths.map(async (path) => [path.slice(folder.length + 1), (await stat(path)).mtimeMs] as const),
    ),
  );
}
