import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import type { OperatorCommand } from '../../src/command-line/operator-command.js';
import { program } from '../../src/program.js';

const pathsOf = (command: OperatorCommand, path = ''): [path: string, command: OperatorCommand][] =>
  command.commands.flatMap((subcommand) => {
    const name = `${path} ${subcommand.name()}`.trim();
    return [[name, subcommand] as const, ...pathsOf(subcommand, name)] as [string, OperatorCommand][];
  });

const ALL = pathsOf(program());
const anyOf = (words: Iterable<string>): string => [...new Set(words)].join('|');
const OPTIONS = anyOf(ALL.flatMap(([, { options }]) => options.flatMap(({ long }) => long ?? [])));
const NOUNS = anyOf(ALL.map(([path]) => path.split(' ', 1)[0] ?? ''));
const COMMANDS = anyOf(ALL.map(([path]) => path).filter((path) => path.includes(' ')));

const WORDS = new RegExp(
  [
    `(?<![\\w-])(?:${OPTIONS})(?![\\w-])`,
    `\\boperator (?:${NOUNS})\\b`,
    `"(?:${COMMANDS})[" ]`,
    String.raw`\b(?:docs|k8s)/`,
    String.raw`(?<![\w/])/(?:applications|users|operators|health|audit|events)(?:/|\b)`,
  ].join('|'),
);

const VARIABLES = anyOf(
  [...readFileSync('docs/configuration.md', 'utf8').matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].flatMap(
    ([, name]) => name ?? [],
  ),
);
/** A text that has more than names of variables, which are also the names of settings. */
const TEXT_WITH_VARIABLE = new RegExp(`^(?=.*[a-z]).*(?<![\\w$])(?:${VARIABLES})(?!\\w)`, 's');

interface Node {
  readonly type?: string;
  readonly value?: unknown;
  readonly raw?: string;
  readonly elements?: readonly ({ readonly expression: Node } | null)[];
}

/** Returns the text literals below a node, and each list of literals as one text. Types and imports have no texts. */
function textsOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textsOf);
  if (typeof node !== 'object' || node === null) return [];
  const { type = '', value, raw = '', elements = [] } = node as Node;
  if (/^(Import|ExportAll|TsInterface|TsTypeAlias|TsModule)/.test(type)) return [];
  if (type === 'StringLiteral') return [String(value)];
  if (type === 'TemplateElement') return [raw];
  const texts = Object.values(node).flatMap(textsOf);
  if (type !== 'ArrayExpression') return texts;
  const words = elements.map((element) => {
    const expression = element?.expression;
    return expression?.type === 'StringLiteral' ? String(expression.value) : '…';
  });
  return [...texts, `"${words.join(' ')} "`];
}

const wordsIn = (source: string, words = WORDS): string[] =>
  textsOf(parseSync(source, { syntax: 'typescript', decorators: true, target: 'es2022' }).body).filter(
    (text) => words.test(text),
  );

describe('a library below the apps', () => {
  const sources = readdirSync('libs', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^(?!error-guide)[\w-]+\/src\/.*\.ts$/.test(file),
  );
  const findAll = (files: readonly string[], words?: RegExp) =>
    files.flatMap((file) =>
      wordsIn(readFileSync(`libs/${file}`, 'utf8'), words).map((text) => `${file}: ${text}`),
    );

  it('names no option, command, document or page, which the error guide does', () => {
    expect(findAll(sources)).toEqual([]);
  });

  it('names no variable in a text, except where a process reads or examines its settings', () => {
    const others = sources.filter((file) => !/^(?:platform|database|ui|diagnosis)\//.test(file));
    expect(findAll(others, TEXT_WITH_VARIABLE)).toEqual([]);
  });

  it('would be rejected with a text about a variable', () => {
    expect(wordsIn("fail('NATS (NATS_URL) does not answer')", TEXT_WITH_VARIABLE)).toHaveLength(1);
    expect(wordsIn("settings['NATS_URL']", TEXT_WITH_VARIABLE)).toEqual([]);
  });

  it.each([
    "fail('run it with --dry-run')",
    'fail(`run operator client list for ${id}`)',
    `fail('the user is enabled here: run "user disable"')`,
    "const next = ['client', 'secret', 'rotate', id];",
    "const remedy = 'read docs/deploy.md';",
    'open(`/applications/${id}`)',
  ])('would be rejected with %s', (source) => {
    expect(wordsIn(source)).toHaveLength(1);
  });
});
