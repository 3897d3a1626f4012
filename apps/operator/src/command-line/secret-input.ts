import { InputError } from './option-values.js';

/** Limit in bytes; longer than any secret, even a set of 20 RSA keys. */
const READ_AT_MOST = 65_536;

export async function readSecretLine(
  option: string,
  what: string,
  input: NodeJS.ReadStream = process.stdin,
): Promise<string> {
  return (await readSecretText(option, what, input, '\n')).replace(/\r$/, '');
}

/** @throws InputError if the text is too long or not UTF-8, or if stdin is a terminal, which would show the secret */
export async function readSecretText(
  option: string,
  what: string,
  input: NodeJS.ReadStream = process.stdin,
  end?: string,
): Promise<string> {
  if (input.isTTY) throw new InputError([`${option} reads a pipe: … ${option} < file`]);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    const at = end === undefined ? -1 : chunk.indexOf(end);
    chunks.push(at < 0 ? chunk : chunk.subarray(0, at));
    if (at >= 0) break;
    length += chunk.length;
    if (length > READ_AT_MOST)
      throw new InputError([`${what} on stdin is longer than ${READ_AT_MOST} bytes`]);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new InputError([`${what} on stdin is not valid UTF-8: convert it`]);
  }
}
