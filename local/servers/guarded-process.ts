import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { SystemUser } from './run-command.js';

/** A command and its signals. */
export interface GuardedCommand {
  /** Shown in messages. */
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  user?: SystemUser | undefined;
  /** Receives everything the process prints; appended to, readable by its owner only. */
  logFile: string;
  /** Also receives everything the process prints, as it comes. */
  onOutput?: (text: string) => void;
  /** The signal by which `stop` asks for the end. */
  signal: 'SIGTERM' | 'SIGINT' | 'SIGQUIT';
  /** Milliseconds between a signal and SIGKILL. */
  grace: number;
  /** The signal when we die; SIGKILL when absent, so that a new start finds ports and files free at once. */
  signalOnDeath?: 'SIGQUIT';
  /** Paths deleted after the end, however it came about. */
  remove?: readonly string[];
}

/** A process that ends with the one that started it. */
export interface GuardedProcess {
  readonly pid: number;
  /** Resolves, and never rejects, with how it ended: "exit code 1", "SIGKILL", "its guard was killed". */
  readonly ended: Promise<string>;
  /** Asks for the end, forces it after the grace, and resolves when nothing is left. May be called again. */
  stop(): Promise<void>;
}

// The process waits for its guard to exist: were we killed in between, it would read the end of the pipe and leave.
const LAUNCH = 'read -r go && exec "$@" </dev/null';

// Waits for our pipe to close, which the kernel does however we die, and ends the process group then; "over" says that the
// process has ended already, so that a number that may belong to another one by now is not signalled.
const GUARD = `
trap '' HUP INT TERM
alive() {
  [ -r /proc/self/stat ] || { kill -s 0 -- "-$group"; return; }
  # A dead process stays listed until somebody asks for its exit code, which in a container may be nobody.
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
 * Starts a process in a session of its own, so that a terminal's Ctrl-C reaches only us, beside a guard
 * that ends it when we die, by SIGKILL too. Whichever of the three is killed, the other two end.
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
      // Without its guard the process would survive our own death.
      reason = 'its guard was killed';
      signalGroup(pid, 'SIGKILL');
    });
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      reason ??= signal ?? `exit code ${code}`;
      // What it started in its own group goes with it.
      signalGroup(pid, 'SIGKILL');
      guard.stdin.write('over\n');
      // It waits for our end from here on, to delete what is to be deleted; we need not wait for it.
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
        if (reason === undefined) signalGroup(pid, name);
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
  // Written at once: what a process says last is what explains its end.
  const forward = (data: Buffer): void => {
    writeSync(log, data);
    onOutput(data.toString());
  };
  child.stdout?.on('data', forward);
  child.stderr?.on('data', forward);
  child.once('close', () => closeSync(log));
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone, which is what a signal asks for.
  }
}

function ignore(): void {
  // A pipe whose reader has ended, or a program that could not run: the exit that follows is what is reported.
}
