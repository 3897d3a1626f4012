import { chmod, link, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { InputError } from '../command-line/option-values.js';
import { HEADER } from '#clients/operations/file/client-file.js';

/**
 * Writes a draft and moves it into place, so that an import never reads half a file.
 * @throws InputError if the path is not a file, or the file must not be replaced
 */
export async function writeClientFile(file: string, text: string, force: boolean): Promise<void> {
  // Replaces the target of a symbolic link, not the link.
  const target = await realpath(file).catch(() => file);
  const mode = await modeOf(target);
  if (mode !== null && !force && !(await isReplaceable(target))) throw refused(file);
  const draft = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    if (mode === null) await createAs(draft, target, file);
    else {
      await chmod(draft, mode);
      await rename(draft, target);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** @returns null if the file does not exist */
async function modeOf(target: string): Promise<number | null> {
  const stats = await stat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stats && !stats.isFile()) throw new InputError([`--output ${target} is not a file: name a file`]);
  return stats && stats.mode & 0o777;
}

async function isReplaceable(target: string): Promise<boolean> {
  const file = await open(target);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0);
    return bytesRead === 0 || buffer.toString() === HEADER;
  } finally {
    await file.close();
  }
}

/** Links the draft instead of renaming it, because a link never replaces a file that another process has created. */
async function createAs(draft: string, target: string, file: string): Promise<void> {
  await link(draft, target).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? refused(file) : error;
  });
}

const refused = (file: string): InputError =>
  new InputError([
    `--output ${file} is not an earlier export, and is not overwritten: name another file, or give --force`,
  ]);
