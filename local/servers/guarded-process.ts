import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { SystemUser } from './run-command.js';

export interface GuardedCommand {
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  user?: SystemUser | undefined;
  /** File to which the output is appended. Only its owner can read it. */
  logFile: string;
  onOutput?: (text: string) => void;
  /** Signal that `stop` sends first. */
  signal: 'SIGTERM' | 'SIGINT' | 'SIGQUIT';
  grace: number;
  /** Signal that the guard sends when this process dies. SIGKILL, the default, frees ports and files immediately. */
  signalOnDeath?: 'SIGQUIT';
  /** Paths to delete after the end of the process. */
  remove?: readonly string[];
}

export interface GuardedProcess {
  readonly pid: number;
  /** Resolves with a reason such as "exit code 1", "SIGKILL" or "its guard was killed". Never rejects. */
  readonly ended: Promise<string>;
  /** Sends SIGKILL after the grace period. Resolves when the process group has ended. Idempotent. */
  stop(): Promise<void>;
}

// The command starts once its guard exists. If this process is killed before that, `read` fails and the shell exits.
const LAUNCH = 'read -r go && exec "$@" </dev/null';

// The kernel closes the pipe however this process dies, and the guard then kills the process group. "over" means that
// the guarded process has ended: another process may have its id now, and must not be signalled.
const GUARD = `
trap '' HUP INT TERM
alive() {
  [ -r /proc/self/stat ] || { kill -s 0 -- "-$group"; return; }
  # A zombie stays listed until its parent reads its exit code; in a container there may be no such parent.
  read -r stat <"/proc/$group/stat" || return 1
  case "\${stat##*) }" in Z* | X*) return 1 ;; esac
}
group=$1 signal=$2 rounds=$3; shift 3
read -r word
if [ "$word" = over ]; then
  read -r word
else
  kill -s "$signal" -- "-$group" 2>/dev/null
  while [ "$rounds" -gt 0 ] && { alive; } 2>/dev/null; do rounds=$((rounds - 1)); sleep 0.1; done
  kill -s KILL -- "-$group" 2>/dev/null
fi
[ "$#" -eq 0 ] || rm -rf -- "$@"
`;

/**
 * Starts a process in a new session, which a terminal's Ctrl-C does not reach. A guard ends the process when this
 * process dies, even by SIGKILL. The process is killed if its guard is killed.
 */
export function startGuarded(options: GuardedCommand): GuardedProcess {
  const log = openSync(options.logFile, 'a', 0o600);
  const output = options.onOutput ? 'pipe' : log;
  const child = spawn('/bin/sh', ['-c', LAUNCH, 'launch', options.command, ...options.args], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['pipe', output, output],
    ...options.user,
  });
  child.on('error', ignore);
  child.stdin?.on('error', ignore);
  const pid = child.pid;
  if (pid === undefined) {
    closeSync(log);
    throw new Error(
      `${options.name} could not be started: /bin/sh cannot be run in ${options.cwd} as its user`,
    );
  }
  const rounds = String(Math.ceil(options.grace / 100));
  const guard = spawn(
    '/bin/sh',
    [
      '-c',
      GUARD,
      'guard',
      String(pid),
      (options.signalOnDeath ?? 'SIGKILL').slice(3),
      rounds,
      ...(options.remove ?? []),
    ],
    { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  guard.on('error', ignore);
  guard.stdin.on('error', ignore);
  forwardOutput(child, log, options.onOutput);
  if (guard.pid) child.stdin?.end('go\n');
  else child.stdin?.end();

  let reason: string | undefined;
  const guardEnded = new Promise<void>((resolve) => {
    guard.once('exit', () => {
      resolve();
      if (reason !== undefined) return;
      // Without its guard, the process could outlive this process.
      reason = 'its guard was killed';
      signalProcess(-pid, 'SIGKILL');
    });
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      reason ??= signal ?? `exit code ${code}`;
      signalProcess(-pid, 'SIGKILL');
      guard.stdin.write('over\n');
      // The guard now only deletes the paths.
      guard.unref();
      (guard.stdin as Socket).unref();
      resolve(reason);
    });
  });

  return {
    pid,
    ended,
    async stop() {
      const signal = (name: NodeJS.Signals): void => {
        if (reason === undefined) signalProcess(-pid, name);
      };
      signal(options.signal);
      const force = setTimeout(signal, options.grace, 'SIGKILL');
      await ended;
      clearTimeout(force);
      const removal = { recursive: true, force: true, maxRetries: 5 };
      await Promise.all((options.remove ?? []).map((path) => rm(path, removal)));
      guard.ref();
      guard.stdin.end();
      await guardEnded;
    },
  };
}

function forwardOutput(child: ChildProcess, log: number, onOutput: GuardedCommand['onOutput']): void {
  if (!onOutput) {
    closeSync(log);
    return;
  }
  // Writes synchronously, because the last lines of a process explain its end.
  const forward = (data: Buffer): void => {
    writeSync(log, data);
    onOutput(data.toString());
  };
  child.stdout?.on('data', forward);
  child.stderr?.on('data', forward);
  child.once('close', () => closeSync(log));
}

/** Does nothing if the process has ended. @param pid negative for a process group */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}

function ignore(): void {
  // The reader of the pipe has ended, or the program could not run. The exit event reports both.
}
