import { InputError } from './input.js';

/** Bytes; longer than any secret, also than a set of 20 RSA keys. */
const READ_AT_MOST = 65_536;

/** Reads the first line of stdin. @throws InputError if it is not UTF-8, or a terminal, which would show the secret */
export async function readSecretLine(
  option: string,
  what: string,
  input: NodeJS.ReadStream = process.stdin,
): Promise<string> {
  if (input.isTTY) throw new InputError([`${option} reads a pipe: … ${option} < file`]);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (chunk.includes('\n') || length > READ_AT_MOST) break;
  }
  const [line = ''] = decode(Buffer.concat(chunks), what).split('\n', 1);
  return line.replace(/\r$/, '');
}

/** Reads all lines of stdin. @throws InputError as {@link readSecretLine} */
export async function readSecretText(
  option: string,
  what: string,
  input: NodeJS.ReadStream = process.stdin,
): Promise<string> {
  if (input.isTTY) throw new InputError([`${option} reads a pipe: … ${option} < file`]);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > READ_AT_MOST)
      throw new InputError([`${what} on stdin is longer than ${READ_AT_MOST} bytes`]);
  }
  return decodeAll(Buffer.concat(chunks), what);
}

function decode(bytes: Buffer, what: string): string {
  const end = bytes.indexOf('\n');
  return decodeAll(end < 0 ? bytes : bytes.subarray(0, end + 1), what);
}

function decodeAll(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InputError([`${what} on stdin is not valid UTF-8: convert it`]);
  }
}
