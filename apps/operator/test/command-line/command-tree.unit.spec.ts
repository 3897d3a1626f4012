import { readFileSync } from 'node:fs';
import { guideEntry, SECTIONS } from '#error-guide/error-guide.js';
import type { OperatorCommand } from '../../src/command-line/operator-command.js';
import { program } from '../../src/program.js';

type Named = readonly [path: string, command: OperatorCommand];

const below = (command: OperatorCommand, path = ''): Named[] =>
  command.commands.flatMap((subcommand) => {
    const name = `${path} ${subcommand.name()}`.trim();
    return [[name, subcommand] as const, ...below(subcommand, name)];
  });

const root = program();
const ALL = below(root);
const ACTIONS = ALL.filter(([, { commands }]) => commands.length === 0);
const WITHOUT_JSON = ['keys public', 'completion', 'help'];
const DOCUMENT = readFileSync('docs/operator.md', 'utf8');
const DOCUMENTED = [...DOCUMENT.matchAll(/`([^`]+)`/g)].map(([, code]) => code);

describe('every command', () => {
  it.each(ALL)('has a description and an example: operator %s', (_, command) => {
    expect(command.description()).not.toBe('');
    expect(command.exampleLines).not.toEqual([]);
  });

  it.each(ACTIONS)('has --json, unless it prints JSON, a script or help: operator %s', (path, command) => {
    const json = command.options.some(({ long }) => long === '--json');
    expect(json).toBe(!WITHOUT_JSON.includes(path));
  });

  it.each(ACTIONS)('describes each of its arguments and options: operator %s', (_, command) => {
    for (const { description } of [...command.options, ...command.registeredArguments])
      expect(description).not.toBe('');
  });

  it.each([['', root] as const, ...ALL])(
    'has examples, which use only existing commands and options: operator %s',
    (path, command) => {
      expect(command.exampleLines).not.toEqual([]);
      for (const line of command.exampleLines) {
        // Removes quoted values. A pipe may join several commands.
        const parts = line.replaceAll(/"[^"]*"|\\\n/g, ' ').split('|');
        const named = parts.map((part) => {
          const words = part
            .replace(/ [<>#].*/s, '')
            .trim()
            .split(/\s+/);
          const [name, shown] =
            ALL.findLast(([candidate]) => `${words.join(' ')} `.startsWith(`${candidate} `)) ?? [];
          const known = shown?.options.map(({ long }) => long).concat('--help') ?? [];
          for (const word of words.filter((option) => option.startsWith('--')))
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

  it.each(ACTIONS)('is in docs/operator.md: operator %s', (path) => {
    expect(DOCUMENTED.filter((code) => `${code} `.startsWith(`${path} `))).not.toEqual([]);
  });
});

describe('a command in the error guide', () => {
  const names = Object.values(SECTIONS).flatMap((entries) => Object.keys(entries));
  const remedies = names.flatMap((name) => guideEntry(name, undefined)?.remedies ?? []);
  const commands = remedies.flatMap(([, , ...all]) => all);

  it('exists, with its options', () => {
    expect(commands.length).toBeGreaterThan(10);
    const unknown = commands.filter((line) => {
      const action = ACTIONS.find(([name]) => `${line} `.startsWith(`${name} `));
      const options: string[] = line.match(/--[\w-]+/g) ?? [];
      return !action || !options.every((option) => action[1].options.some(({ long }) => long === option));
    });
    expect(unknown).toEqual([]);
  });

  it('is on a separate line, so that it can be copied alone', () => {
    expect(remedies.filter(([, action]) => /`(operator|npm run) /.test(action))).toEqual([]);
  });
});

it.each(ALL.filter(([, { commands }]) => commands.length > 0))(
  'the list of commands names the commands of the %s group',
  (_, group) => {
    const line = (group.parent ?? group).helpInformation().replaceAll(/\s+/g, ' ');
    const names = group.commands.map((command) => command.name()).join(', ');
    expect(line).toContain(`${group.description()}: ${names}`);
  },
);

it('docs/operator.md lists the same exit codes as the help', () => {
  let help = '';
  root.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const codes = [...help.matchAll(/^ {2}(\d) {2}/gm)].map(([, code]) => code);
  expect(codes).toEqual(['0', '1', '2', '3', '4']);
  expect([...DOCUMENT.matchAll(/^\| (\d) \|/gm)].map(([, code]) => code)).toEqual(codes);
});
