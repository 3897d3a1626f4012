import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseFileSync } from '@swc/core';
import { check } from 'recheck';

/** False positives: these expressions are linear in the context in which they are used. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  [String.raw`/"(?:[^"\\]|\\.)*"/g`]: 'the text is valid JSON: every quote that opens a string is closed',
  [String.raw`/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/gs`]: 'the text is valid JSON',
  [String.raw`/^(?=.{1,512}$)[A-Za-z0-9._~+/-]+=*$/`]: 'the length is checked first',
};

const FOLDERS = ['apps/operator/src', ...libraries().map((name) => `libs/${name}/src`)];

function libraries(): string[] {
  return readdirSync('libs').filter((name) => name !== 'testing');
}

function regularExpressions(): [literal: string, file: string][] {
  const found = new Map<string, string>();
  for (const folder of FOLDERS)
    for (const name of readdirSync(folder, { encoding: 'utf8', recursive: true })) {
      if (!name.endsWith('.ts')) continue;
      const file = join(folder, name);
      for (const literal of literalsIn(parseFileSync(file, { syntax: 'typescript', decorators: true })))
        found.set(literal, file);
    }
  return [...found].filter(([literal]) => !Object.hasOwn(EXCEPTIONS, literal));
}

function literalsIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, pattern, flags } = node as Readonly<Record<string, unknown>>;
  if (type === 'RegExpLiteral') return [`/${String(pattern)}/${String(flags)}`];
  return Object.values(node).flatMap(literalsIn);
}

/** @returns null if the regular expression is linear */
async function problemOf(literal: string): Promise<string | null> {
  const end = literal.lastIndexOf('/');
  const options = { checker: 'automaton', timeout: 120_000 } as const;
  const result = await check(literal.slice(1, end), literal.slice(end + 1), options);
  if (result.status === 'safe') return null;
  return result.status === 'vulnerable'
    ? `${result.complexity.summary}, such as for ${result.attack.pattern}`
    : `not analysed: ${result.error.kind}`;
}

describe('a regular expression of the command line', () => {
  it('takes linear time', async () => {
    const found = regularExpressions();
    expect(found.length).toBeGreaterThan(100);
    const slow: string[] = [];
    for (const [literal, file] of found) {
      const problem = await problemOf(literal);
      if (problem !== null) slow.push(`${file}: ${literal}: ${problem}`);
    }
    expect(slow).toEqual([]);
  });
});
