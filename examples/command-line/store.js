// Stores the tokens in the system's keychain or, if there is none, in a file that only this user can read.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const SERVICE = 'scheduling-cli';
const FOLDER = join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), SERVICE);
/** Age at which a lock is considered abandoned. Longer than any request that is sent under the lock. */
const STALE_LOCK_MS = 60_000;
/** Long enough for the user to unlock the keychain. */
const KEYCHAIN_TIMEOUT_MS = 60_000;

/** @param issuer URL of the authorization server; its tokens are never sent to another server */
export function openStore(issuer) {
  const account = encodeURIComponent(issuer);
  const file = join(FOLDER, `${account}.json`);
  const keychain = KEYCHAINS[process.platform]?.(account);

  const store = {
    async read() {
      const kept = await readFile(file, 'utf8').catch(() => keychain?.read());
      return kept ? JSON.parse(kept) : undefined;
    },

    async write(session) {
      const secret = JSON.stringify(session);
      if (keychain && (await keychain.write(secret)) && (await keychain.read()) === secret) {
        await rm(file, { force: true });
        return "the system's keychain";
      }
      // The rename is atomic, so a reader gets the complete old file or the complete new file.
      await writeFile(`${file}.new`, secret, { mode: 0o600 });
      await rename(`${file}.new`, file);
      return file;
    },

    async remove() {
      await rm(file, { force: true });
      await keychain?.remove();
    },

    /** Runs `work` while this process holds the lock. */
    async locked(work) {
      await mkdir(FOLDER, { recursive: true, mode: 0o700 });
      const lock = `${file}.lock`;
      await take(lock);
      try {
        return await work();
      } finally {
        await rm(lock, { force: true });
      }
    },
  };
  return store;
}

/** Waits until this process has created the lock file. Deletes the stale lock of a killed process. */
async function take(lock) {
  for (;;) {
    try {
      return await (await open(lock, 'wx', 0o600)).close();
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > STALE_LOCK_MS) await rm(lock, { force: true });
    else await sleep(50);
  }
}

/** Keychain commands by operating system. Secrets are sent through pipes, because every user can see arguments. */
const KEYCHAINS = {
  linux: (account) => {
    const attributes = ['service', SERVICE, 'account', account];
    return {
      read: () => run('secret-tool', ['lookup', ...attributes]),
      write: async (secret) =>
        (await run('secret-tool', ['store', '--label=Scheduling', ...attributes], secret)) !== undefined,
      remove: () => run('secret-tool', ['clear', ...attributes]),
    };
  },
  darwin: (account) => {
    const item = ['-s', SERVICE, '-a', account];
    return {
      read: async () => {
        const password = await run('security', ['find-generic-password', ...item, '-w']);
        return password && Buffer.from(password.trim(), 'base64url').toString();
      },
      write: async (secret) => {
        const password = Buffer.from(secret).toString('base64url');
        const command = ['add-generic-password', '-U', ...item, '-w', password].join(' ');
        return (await run('security', ['-i'], `${command}\n`)) !== undefined;
      },
      remove: () => run('security', ['delete-generic-password', ...item]),
    };
  },
};

/** @returns the output of the command; undefined if the command fails or does not exist */
async function run(command, args, input = '') {
  try {
    const child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'ignore'],
      signal: AbortSignal.timeout(KEYCHAIN_TIMEOUT_MS),
    });
    const closed = once(child, 'close');
    child.stdin.on('error', () => undefined).end(input);
    const [output, [code]] = await Promise.all([text(child.stdout), closed]);
    return code === 0 ? output : undefined;
  } catch {
    return undefined;
  }
}
