import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigurationError } from './load-configuration.js';

export interface ConfigurationFile<T> {
  readonly variable: string;
  readonly path: string;
  /** SHA-256 of the content, in hexadecimal. */
  readonly digest: string;
  readonly value: T;
}

export interface FileSource<T> {
  readonly variable: string;
  readonly path: string;
  /** May throw an error whose `problems` lists every mistake in the file. */
  readonly parse: (content: Buffer) => T;
}

const MAX_BYTES = 256 * 1024;

/** @throws ConfigurationError listing every problem */
export function readConfigurationFile<T>({ variable, path, parse }: FileSource<T>): ConfigurationFile<T> {
  const name = resolve(path);
  try {
    const content = readFileSync(name);
    if (content.length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1024} KiB`);
    const digest = createHash('sha256').update(content).digest('hex');
    return { variable, path: name, digest, value: parse(content) };
  } catch (error) {
    const { message, problems = [message] } = error as Error & { problems?: readonly string[] };
    throw new ConfigurationError(problems.map((problem) => `${variable} ${name}: ${problem}`));
  }
}
