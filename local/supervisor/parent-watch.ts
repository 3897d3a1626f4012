import { readFile } from 'node:fs/promises';

const POLL_MS = 200;

/**
 * Calls back when the npm process that started this one ends: after SIGKILL it sends no signal. Does nothing if this process was
 * not started by npm.
 *
 * @returns a function that stops the watch
 */
export async function watchNpm(env: NodeJS.ProcessEnv, onEnd: () => void): Promise<() => void> {
  if (!env['npm_lifecycle_event']) return () => undefined;
  const parent = process.ppid;
  // npm runs the script in a shell, which may have replaced itself (exec).
  const grandparent = await parentOf(parent);
  const timer = setInterval(() => {
    void hasEnded(parent, grandparent).then((ended) => {
      if (!ended) return;
      clearInterval(timer);
      onEnd();
    });
  }, POLL_MS);
  return () => clearInterval(timer);
}

async function hasEnded(parent: number, grandparent: number | undefined): Promise<boolean> {
  if (process.ppid !== parent) return true;
  return grandparent !== undefined && (await parentOf(parent)) !== grandparent;
}

/** Undefined without /proc, or if the process is not a shell: the parent of npm itself may end. */
async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
  return /^(sh|dash|bash|ash|busybox|zsh)$/.test(name) ? Number(rest.split(' ')[1]) : undefined;
}
