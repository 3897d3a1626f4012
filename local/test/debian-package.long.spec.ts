import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startBackingServices } from '../servers/backing-services.js';
import { debianServer } from '../servers/debian-package.js';
import type { FoundServer } from '../servers/find-server.js';
import { runCommand } from '../servers/run-command.js';
import { descendantsOf, survivorsOf } from '#test/support/process-tree.js';
import { aptOf, DebianMirror } from './debian-mirror.js';

const REGISTER = fileURLToPath(new URL('../../test/jest/register-typescript.mjs', import.meta.url));
const PARENT = fileURLToPath(new URL('package-parent.ts', import.meta.url));
const PATTERN = /[[\]^$]/;
const isDebian = (await runCommand('apt-get', ['--version'])).code === 0;

describe('missing servers', () => {
  let folder: string;

  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'package-test-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function refusal(env: NodeJS.ProcessEnv): Promise<string> {
    const lookup = { path: '', folders: [], postgresRoots: [] };
    const options = {
      directory: join(folder, 'local'),
      persistent: false,
      progress: () => undefined,
      lookup,
    };
    const error: unknown = await startBackingServices({ env, ...options }).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    expect(await leftIn(folder)).toEqual([]);
    return (error as Error).message;
  }

  it('are listed with the commands to install them on Debian, Fedora and macOS', async () => {
    const message = await refusal({ PATH: '/nowhere' });
    expect(message).toMatch(/^PostgreSQL, Redis and NATS are not on this machine/);
    expect(message).toContain('apt-get is not installed');
    expect(message).toMatch(/Debian.* apt install postgresql redis-server nats-server\n/);
    expect(message).toMatch(/Fedora.* dnf install postgresql-server valkey-compat-redis nats-server\n/);
    expect(message).toMatch(/macOS.* brew install postgresql@17 redis nats-server\n/);
    expect(message).toMatch(/DATABASE_URL, REDIS_URL, NATS_URL.*docker compose up/);
    expect(message).not.toMatch(PATTERN);
  });

  it('do not include a server that the environment configures', async () => {
    const message = await refusal({ PATH: '/nowhere', DATABASE_URL: 'postgres://127.0.0.1/a' });
    expect(message).toMatch(/^Redis and NATS are not on this machine/);
    expect(message).toMatch(/apt install redis-server nats-server\n/);
  });

  if (isDebian) {
    it.each([
      ['has an unknown name', 'http://mirror.invalid', /mirror\.invalid: .*resolv/],
      ['cannot be reached', 'http://127.0.0.1:1', /127\.0\.0\.1:1: Could not connect/],
    ])('are reported with the cause when the mirror %s', async (_, mirror, cause) => {
      const message = await refusal(await aptOf(folder, mirror));
      expect(message).toMatch(/^PostgreSQL, Redis and NATS are not on this machine/);
      expect(message).toMatch(cause);
      expect(message).toContain('brew install');
      expect(message).not.toMatch(PATTERN);
    });

    it('are named if the distribution has no package for them', async () => {
      const mirror = await DebianMirror.start(folder);
      const env = await mirror.env();
      const options = { user: undefined, env, progress: () => undefined };
      // apt also lists the names of installed packages, regardless of the mirror.
      const attempt = debianServer('nginx', join(folder, 'local'), options);
      await expect(attempt).rejects.toThrow(/nginx.*(no package of nginx|find a source to download)/s);
      mirror.stop();
    });
  }
});

if (isDebian) {
  describe('a package of the distribution', () => {
    let folder: string;
    let mirror: DebianMirror;
    let shown: { text: string; transient: boolean }[];

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'package-test-'));
      mirror = await DebianMirror.start(folder);
      shown = [];
    });

    afterEach(async () => {
      mirror.stop();
      await rm(folder, { recursive: true, force: true });
    });

    async function unpack(): Promise<FoundServer> {
      const env = await mirror.env();
      return debianServer('nats-server', join(folder, 'local'), {
        user: undefined,
        env,
        progress: (text, transient = false) => {
          shown.push({ text, transient });
          if (transient) for (const send of mirror.halves.splice(0)) send();
        },
      });
    }

    it('is downloaded with its size and progress shown', async () => {
      mirror.how = 'halved';
      expect(await unpack()).toMatchObject({ version: 'nats-server: v999' });
      expect(shown).toContainEqual({ text: 'downloading 1.0 MB: nats-server', transient: false });
      expect(shown).toContainEqual({ text: expect.stringMatching(/^0\.\d of 1\.0 MB$/), transient: true });
      expect(await leftIn(folder)).toEqual(['nats-server']);
    });

    it('is rejected if it is damaged, and leaves no folder', async () => {
      mirror.how = 'damaged';
      await expect(unpack()).rejects.toThrow(/Hash Sum mismatch/);
      expect(await leftIn(folder)).toEqual([]);
    });

    it('replaces an unpacked copy that does not run', async () => {
      const programs = join(folder, 'local/packages/nats-server/usr/sbin');
      await mkdir(programs, { recursive: true });
      await writeFile(join(programs, 'nats-server'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      expect(await unpack()).toMatchObject({ version: 'nats-server: v999' });
      expect(await leftIn(folder)).toEqual(['nats-server']);
    });

    it('can be unpacked by concurrent calls, which delete the draft of a process that has ended', async () => {
      const packages = join(folder, 'local/packages');
      await mkdir(join(packages, `draft-${process.pid}-1-aaaaaa`, 'tree'), { recursive: true });
      mirror.how = 'halved';
      const [first, second] = [unpack(), unpack()];
      await Promise.all([first, second]);
      expect(await leftIn(folder)).toEqual(['nats-server']);
    });

    it.each(['SIGKILL', 'SIGINT'] as const)(
      'leaves no process or folder when %s interrupts its download, and can be downloaded afterwards',
      async (signal) => {
        mirror.how = 'halved';
        const parent = spawn(process.execPath, ['--import', REGISTER, PARENT, join(folder, 'local')], {
          env: { ...process.env, ...(await mirror.env()) },
          stdio: ['ignore', 'ignore', 'inherit'],
        });
        const ended = once(parent, 'exit');
        await halfWay(parent, mirror);
        const started = await descendantsOf(parent.pid!);
        expect(started.some(({ command }) => command.startsWith('apt-get '))).toBe(true);
        expect(await leftIn(folder)).toHaveLength(1);
        parent.kill(signal);
        await ended;
        expect(await survivorsOf(started, 60_000)).toEqual([]);
        expect(await leftIn(folder)).toEqual([]);
        mirror.how = 'whole';
        expect(await unpack()).toMatchObject({ version: 'nats-server: v999' });
      },
    );
  });
}

/** Returns the unpacked packages and drafts in the packages folder. */
async function leftIn(folder: string): Promise<string[]> {
  return readdir(join(folder, 'local/packages')).catch(() => []);
}

async function halfWay(parent: ChildProcess, mirror: DebianMirror): Promise<void> {
  while (mirror.halves.length === 0) {
    if (parent.exitCode !== null) throw new Error(`it ended with ${parent.exitCode}`);
    await sleep(20);
  }
}
