import { runCommand, type SystemUser } from './run-command.js';

/** Returns `nobody` under root, because PostgreSQL refuses to run as root; otherwise undefined, for the current user. */
export async function unprivilegedUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all([
    runCommand('id', ['-u', 'nobody']),
    runCommand('id', ['-g', 'nobody']),
  ]);
  if (uid.code !== 0 || gid.code !== 0) {
    throw new Error(
      'PostgreSQL refuses to run as root and this machine has no user "nobody": run as another user, or set DATABASE_URL',
    );
  }
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}
