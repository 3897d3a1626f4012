import { randomBytes } from 'node:crypto';
import { InputError } from '../command-line/input.js';

/** Bytes; far more than the longest password needs. */
const READ_AT_MOST = 4_096;

/**
 * Reads the first line of the input, without its line ending.
 *
 * @throws InputError when the input is a terminal, which would show the password, or not UTF-8
 */
export async function readPassword(input: NodeJS.ReadStream = process.stdin): Promise<string> {
  if (input.isTTY)
    throw new InputError(['--password-stdin reads a pipe: … --password-stdin < password-file']);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (chunk.includes('\n') || length > READ_AT_MOST) break;
  }
  const [line = ''] = decode(Buffer.concat(chunks)).split('\n', 1);
  return line.replace(/\r$/, '');
}

/** 144 random bits, without characters that are easily lost when copied. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}

function decode(bytes: Buffer): string {
  const end = bytes.indexOf('\n');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(end < 0 ? bytes : bytes.subarray(0, end + 1));
  } catch {
    throw new InputError(['the password on stdin is not valid UTF-8: convert it']);
  }
}
