import { chmod, link, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { InputError } from '../command-line/input.js';
import { HEADER } from './client-file.js';

/**
 * Writes an export. The file is never half written: an import may read it at any time. A file that exists keeps its mode; a new
 * one can be read by its owner only.
 *
 * @param force whether to replace a file that is not an earlier export
 * @throws InputError if the file must not be replaced
 */
export async function writeClientFile(file: string, text: string, force: boolean): Promise<void> {
  // A symbolic link stays: the file to which it leads is replaced.
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

/** @returns null if there is no file @throws InputError if it is a folder or a device */
async function modeOf(target: string): Promise<number | null> {
  const found = await stat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found && !found.isFile()) throw new InputError([`--output ${target} is not a file: name a file`]);
  return found && found.mode & 0o777;
}

/** Whether a file is an earlier export, or empty. */
async function isReplaceable(target: string): Promise<boolean> {
  const file = await open(target);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0);
    return bytesRead === 0 || buffer.toString() === HEADER;
  } finally {
    await file.close();
  }
}

/** Gives the draft its name, unless another process has created a file of that name since. */
async function createAs(draft: string, target: string, file: string): Promise<void> {
  await link(draft, target).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? refused(file) : error;
  });
}

const refused = (file: string): InputError =>
  new InputError([
    `--output ${file} is not an earlier export, and is not overwritten: name another file, or give --force`,
  ]);
