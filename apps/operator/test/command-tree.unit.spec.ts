import { readFileSync } from 'node:fs';
import { ERROR_GUIDE } from '#oauth/error-guide/error-guide.js';
import type { OperatorCommand } from '../src/command-line/operator-command.js';
import { program } from '../src/program.js';

/** A command, and the words by which it is called. */
type Named = readonly [path: string, command: OperatorCommand];

const below = (command: OperatorCommand, path = ''): Named[] =>
  command.commands.flatMap((one) => {
    const name = `${path} ${one.name()}`.trim();
    return [[name, one] as const, ...below(one, name)];
  });

const root = program();
const ALL = below(root);
const ACTIONS = ALL.filter(([, { commands }]) => commands.length === 0);
/** They print what a shell reads, or help. */
const WITHOUT_JSON = ['completion', 'help'];
const DOCUMENT = readFileSync('docs/operator.md', 'utf8');
/** What it sets as code. */
const DOCUMENTED = [...DOCUMENT.matchAll(/`([^`]+)`/g)].map(([, code]) => code);

describe('every command', () => {
  it.each(ALL)('%s has a description and an example', (_, command) => {
    expect(command.description()).not.toBe('');
    expect(command.exampleLines).not.toEqual([]);
  });

  it.each(ACTIONS)('%s takes --json, unless it prints a script or help', (path, command) => {
    const json = command.options.some(({ long }) => long === '--json');
    expect(json).toBe(!WITHOUT_JSON.includes(path));
  });

  it.each(ACTIONS)('%s describes each of its arguments and options', (_, command) => {
    for (const { description } of [...command.options, ...command.registeredArguments])
      expect(description).not.toBe('');
  });

  it.each([['', root] as const, ...ALL])(
    '%s has examples of commands and options that exist',
    (path, command) => {
      for (const line of command.exampleLines) {
        // Without the values in quotation marks. A pipe may join several commands.
        const parts = line.replaceAll(/"[^"]*"|\\\n/g, ' ').split('|');
        const named = parts.map((part) => {
          const words = part
            .replace(/ [<>#].*/s, '')
            .trim()
            .split(/\s+/);
          const [name, shown] = ALL.findLast(([one]) => `${words.join(' ')} `.startsWith(`${one} `)) ?? [];
          const known = shown?.options.map(({ long }) => long).concat('--help') ?? [];
          for (const word of words.filter((one) => one.startsWith('--')))
            expect({ line, known }).toEqual({ line, known: expect.arrayContaining([word]) });
          return name;
        });
        expect({ line, named }).toEqual({
          line,
          named: expect.arrayContaining([expect.stringMatching(new RegExp(`^${path}`))]),
        });
      }
    },
  );

  it.each(ACTIONS)('%s is in docs/operator.md', (path) => {
    expect(DOCUMENTED.filter((code) => `${code} `.startsWith(`${path} `))).not.toEqual([]);
  });
});

it('the commands of the error guide exist, and begin as they are typed', () => {
  const groups = root.commands.map((command) => command.name()).join('|');
  const commands = ERROR_GUIDE.flatMap(({ entries }) => entries)
    .flatMap(({ remedies }) => remedies)
    .flatMap(([, action]) => [...action.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
    .filter((code) => new RegExp(`^(operator|${groups}) `).test(code));
  expect(commands.length).toBeGreaterThan(10);
  const known = new RegExp(`^operator (${ACTIONS.map(([path]) => path).join('|')})( |$)`);
  expect(commands.filter((code) => !known.test(code))).toEqual([]);
});

it.each(ALL.filter(([, { commands }]) => commands.length > 0))(
  'the list of commands names those of the group %s',
  (_, group) => {
    const line = (group.parent ?? group).helpInformation().replaceAll(/\s+/g, ' ');
    const names = group.commands.map((command) => command.name()).join(', ');
    expect(line).toContain(`${group.description()}: ${names}`);
  },
);

it('the exit codes of the help are those of docs/operator.md', () => {
  let help = '';
  root.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const codes = [...help.matchAll(/^ {2}(\d) {2}/gm)].map(([, code]) => code);
  expect(codes).toEqual(['0', '1', '2', '3', '4']);
  expect([...DOCUMENT.matchAll(/^\| (\d) \|/gm)].map(([, code]) => code)).toEqual(codes);
});
