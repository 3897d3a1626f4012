import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalProcess } from '#local/servers/guarded-process.js';
import { runCommand, startOf } from '#local/servers/run-command.js';

/** A process, identified by its id and start time. */
export interface SeenProcess {
  pid: number;
  parent: number;
  start: string;
  command: string;
}

export async function descendantsOf(pid: number): Promise<SeenProcess[]> {
  const all = await processes();
  const found: SeenProcess[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map((child) => child.pid));
  }
  return found;
}

/** Signals a process and its descendants, some of which may be in other process groups. */
export async function signalTree(pid: number, signal: NodeJS.Signals): Promise<void> {
  const descendants = await descendantsOf(pid);
  for (const target of [pid, ...descendants.map((process) => process.pid)]) signalProcess(target, signal);
}

/** Waits at most `within` milliseconds for the processes to end. @returns processes that still run */
export async function survivorsOf(seen: readonly SeenProcess[], within: number): Promise<SeenProcess[]> {
  const deadline = Date.now() + within;
  for (;;) {
    const alive = await Promise.all(
      seen.map(async (process) => ((await startOf(process.pid)) === process.start ? [process] : [])),
    );
    const survivors = alive.flat();
    if (survivors.length === 0 || Date.now() > deadline) return survivors;
    await sleep(50);
  }
}

async function processes(): Promise<SeenProcess[]> {
  const numbers = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const pids = numbers.length > 0 ? numbers : await listedByPs();
  const found = await Promise.all(pids.map(describe));
  return found.filter((process) => process !== undefined);
}

async function describe(pid: number): Promise<SeenProcess | undefined> {
  const start = await startOf(pid);
  if (start === undefined) return undefined;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat !== undefined) {
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return { pid, parent, start, command: command.replaceAll('\0', ' ').trim() };
  }
  const { code, stdout } = await runCommand('ps', ['-ww', '-o', 'ppid=,args=', '-p', String(pid)]);
  const [, parent, command = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout) ?? [];
  return code === 0 ? { pid, parent: Number(parent), start, command } : undefined;
}

async function listedByPs(): Promise<number[]> {
  const { stdout } = await runCommand('ps', ['-A', '-o', 'pid=']);
  return stdout.split('\n').map(Number).filter(Boolean);
}

/** Returns the CPU milliseconds that this process has used. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
