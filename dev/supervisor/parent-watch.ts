import { readFile } from 'node:fs/promises';

const EVERY_MS = 200;

/**
 * Calls back when npm, which started us, is gone: killed by SIGKILL it cannot tell us. Does nothing when we were
 * started by hand, where a parent that ends is no reason to end.
 *
 * @returns ends the watch
 */
export async function watchNpm(env: NodeJS.ProcessEnv, gone: () => void): Promise<() => void> {
  if (!env['npm_lifecycle_event']) return () => undefined;
  const parent = process.ppid;
  // Between npm and us stands the shell that runs the script, unless it replaced itself by us.
  const grandparent = await parentOf(parent);
  const timer = setInterval(() => {
    void lost(parent, grandparent).then((isLost) => {
      if (!isLost) return;
      clearInterval(timer);
      gone();
    });
  }, EVERY_MS);
  return () => clearInterval(timer);
}

async function lost(parent: number, grandparent: number | undefined): Promise<boolean> {
  if (process.ppid !== parent) return true;
  return grandparent !== undefined && (await parentOf(parent)) !== grandparent;
}

/** Undefined where there is no /proc, or when the parent is not a shell: who started npm may well end. */
async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
  return /^(sh|dash|bash|ash|busybox|zsh)$/.test(name) ? Number(rest.split(' ')[1]) : undefined;
}
