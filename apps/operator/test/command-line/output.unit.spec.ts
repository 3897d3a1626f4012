import { execFileSync } from 'node:child_process';
import stringWidth from 'string-width';
import { Argument } from 'commander';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { planImport } from '#clients/operations/file/import-plan.js';
import { readFile } from '#clients/operations/file/read-file.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { quoted } from '#operations/wording.js';
import { reportFailure } from '../../src/command-line/failure.js';
import { nextText } from '../../src/command-line/flags.js';
import { warn } from '../../src/command-line/output.js';
import { commandLine } from '../../src/command-line/shell.js';
import { tableLines } from '../../src/command-line/table.js';
import { OperatorCommand } from '../../src/command-line/operator-command.js';

describe('a suggested command', () => {
  it.each([
    'https://a.example/$(id)',
    'https://a.example/;id',
    "https://a.example/'&id",
    "';id;'",
    'two words',
  ])('quotes %s, so that a shell does not run it', (value) => {
    const command = commandLine('client', 'update', value).replace('operator', '');
    expect(execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' }).trim()).toBe(
      ['client', 'update', value].join('\n'),
    );
  });

  it('begins with the name under which the program was started', () => {
    const started = process.env.npm_lifecycle_script;
    process.env.npm_lifecycle_script = 'operator';
    try {
      expect(commandLine('client', 'list')).toBe('npx operator client list');
    } finally {
      if (started === undefined) delete process.env.npm_lifecycle_script;
      else process.env.npm_lifecycle_script = started;
    }
  });

  it('is on a separate line, so that nothing else is pasted with it', () => {
    expect(nextText({ text: 'Revoke it', command: ['client', 'delete', 'sc_a'] })).toMatch(
      /^Revoke it:\n {2}\S*operator client delete sc_a$/,
    );
  });
});

/** Escape sequences, and a character that reverses the direction of text. JSON does not escape U+009B. */
const COMMANDS = '\u001b]0;title\u0007\u009b31m\u202e';
const RAW = /[^\P{C}\n]/u;

const NO_CLIENTS = { clients: new Map(), deleted: new Set<string>(), secrets: new Map(), others: [] };

function stderrOf(write: () => void): string {
  const { stderr } = process;
  const original = stderr.write.bind(stderr);
  let written = '';
  stderr.write = (text: string | Uint8Array) => {
    written += String(text);
    return true;
  };
  try {
    write();
  } finally {
    stderr.write = original;
  }
  return written;
}

describe('untrusted text on stderr', () => {
  it.each([
    `a: |${COMMANDS}\n x`,
    `"${COMMANDS}": 1\nversion: 1\nclients: []`,
    `version: 1\nclients:\n- client_id: a\n  "${COMMANDS}": 1`,
  ])('cannot control the terminal from an imported file: %j', async (text) => {
    const { entries, problems: unreadable, located } = await readFile(text);
    const { problems: invalid } = planImport(entries, NO_CLIENTS, new ScopeCatalogue([]), new Date());
    const problems = located([...unreadable, ...invalid]);
    expect(JSON.stringify(problems)).toContain('title');
    const written = stderrOf(() => reportFailure(new AdministrationError('invalid', problems)));
    expect(written).toContain('title');
    expect(written).not.toMatch(RAW);
  });

  it('cannot control the terminal from an error or a warning, and keeps its lines', () => {
    for (const write of [() => reportFailure(new Error(`a\n${COMMANDS}`)), () => warn(`a\n${COMMANDS}`)]) {
      const written = stderrOf(write);
      expect(written).toMatch(/a\n.*title/);
      expect(written).not.toMatch(RAW);
    }
  });

  it('is escaped when quoted', () => {
    expect(JSON.parse(quoted(COMMANDS))).toBe(COMMANDS);
    expect(quoted(COMMANDS)).not.toMatch(RAW);
  });
});

describe('table', () => {
  const ID = 'sc_abcdefghijklmnopqrstuvwx';
  const HEADING = ['client_id', 'created_at', 'name', 'scope'];
  const ROWS = [
    [ID, '2026-11-22', 'Calendar Connect for Teams', 'profile:read bookings:read'],
    [ID, '2026-11-22', 'A', 'profile:read'],
  ];

  describe('a table', () => {
    it.each([
      ['needed_until', '2026-11-22 19:00Z'],
      ['first', '2026-11-22T19:00:00.000Z'],
      ['last', '18:43:58.871'],
    ])('never shortens a time, whatever the name of its column: %s', (name, time) => {
      const rows = [[time, 'Calendar Connect for Teams']];
      for (const columns of [22, 28, 36, 42])
        expect(tableLines([name, 'name'], rows, columns).join('\n')).toContain(time);
    });

    it('wraps values next to their names if each row is a block of lines', () => {
      const lines = tableLines(
        ['client_id', 'name'],
        [[ID, 'Calendar Connect for Teams and their assistants']],
        36,
      );
      expect(lines.join('\n').split('\n')).toEqual([
        `client_id  ${ID}`,
        'name       Calendar Connect for',
        '           Teams and their',
        '           assistants',
      ]);
    });

    it('gives each column the width of its longest cell if the output is not a terminal', () => {
      expect(tableLines(HEADING, ROWS, Infinity)).toEqual([
        'client_id                    created_at  name                        scope',
        `${ID}  2026-11-22  Calendar Connect for Teams  profile:read bookings:read`,
        `${ID}  2026-11-22  A                           profile:read`,
      ]);
    });

    it('fits the terminal by shortening the widest text, but never an id or a date', () => {
      for (const columns of [65, 72, 80, 90]) {
        const lines = tableLines(HEADING, ROWS, columns);
        expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
        expect(lines[1]).toContain(`${ID}  2026-11-22  Cal`);
        expect(lines[1]).toContain('…');
      }
    });

    it('prints a block of lines per row if ids and dates alone are too wide', () => {
      const lines = tableLines(HEADING, ROWS, 50);
      expect(lines).toEqual([
        `client_id   ${ID}`,
        'created_at  2026-11-22',
        'name        Calendar Connect for Teams',
        'scope       profile:read bookings:read',
        '',
        `client_id   ${ID}`,
        'created_at  2026-11-22',
        'name        A',
        'scope       profile:read',
      ]);
    });

    it('omits empty cells in a block', () => {
      expect(tableLines(['client_id', 'user_id', 'name'], [[ID, '', 'A']], 20)).toEqual([
        `client_id  ${ID}`,
        'name       A',
      ]);
    });

    it('measures wide characters, combining marks and emoji as a terminal shows them', () => {
      const rows = [
        ['予定表', '1'],
        ['Zu\u0308rich', '2'],
        ['👩‍👩‍👧', '3'],
        ['plain', '4'],
      ];
      const lines = tableLines(['name', 'n'], rows, Infinity);
      expect(new Set(lines.map((line) => stringWidth(line)))).toEqual(new Set([9]));
    });

    it('never splits a character', () => {
      const [, line = ''] = tableLines(['name', 'id'], [['予定表予定表予定表予定表', '1']], 18);
      expect(line).toBe('予定表予定表…   1');
    });

    it('ignores styles in the width of a cell', () => {
      const rows = [
        [{ text: 'live', style: 'green' as const }, '1'],
        ['revoked', '2'],
      ];
      expect(tableLines(['state', 'id'], rows, 80)).toEqual(['state    id', 'live     1', 'revoked  2']);
    });
  });
});

describe('operator command', () => {
  const ID = '-jlDsWFqr873P58sP6Q633t_q5ELKzOrCgrSoaVhVBw';

  /** @returns id and options as parsed by `operator grant revoke` */
  function parsed(...args: string[]): unknown[] {
    const got: unknown[] = [];
    const program = new OperatorCommand('operator').configureOutput({ writeErr: () => undefined });
    const grant = program.command('grant');
    grant
      .command('revoke')
      .argument('[id]')
      .option('--yes')
      .option('--before <id>')
      .action((id: string | undefined, options: object) => void got.push(id, options));
    program.parse(['grant', 'revoke', ...args], { from: 'user' });
    return got;
  }

  describe('an argument outside its choices', () => {
    it('is refused with its name and the choices', () => {
      let error = '';
      const program = new OperatorCommand('operator').configureOutput({
        writeErr: (text) => (error += text),
      });
      program
        .command('completion')
        .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
        .action(() => undefined);
      expect(() => program.parse(['completion', 'fish'], { from: 'user' })).toThrow();
      expect(error).toContain("error: 'fish' is invalid for 'shell'. Allowed choices are bash, zsh.");
    });
  });

  describe('an id that begins with a hyphen', () => {
    it.each([[[ID, '--yes']], [['--yes', ID]], [['--yes', '--', ID]]])('is an argument in %j', (args) => {
      expect(parsed(...args)).toEqual([ID, { yes: true }]);
    });

    it('is the value of an option', () => {
      expect(parsed('--before', ID)).toEqual([undefined, { before: ID }]);
    });

    it.each([[['-1', '--yes']], [['--yes', '-1']], [['--yes', '--', '-1']], [['-1', '--yes', '--']]])(
      'may be short in %j',
      (args) => {
        expect(parsed(...args)).toEqual(['-1', { yes: true }]);
      },
    );

    it.each([[['--', '--yes']], [['--', '--help']]])("may equal an option's name after `--`: %j", (args) => {
      expect(parsed(...args)).toEqual([args[1], {}]);
    });

    it('keeps its position among the arguments', () => {
      const got: unknown[] = [];
      const program = new OperatorCommand('operator');
      const secret = program.command('secret');
      secret
        .command('revoke')
        .argument('<id>')
        .argument('<secret-id>')
        .option('--force')
        .action((...args: unknown[]) => void got.push(...args.slice(0, 3)));
      program.parse(['secret', 'revoke', '-a', '--force', 'b'], { from: 'user' });
      program.parse(['secret', 'revoke', 'a', '-b'], { from: 'user' });
      program.parse(['secret', 'revoke', '-a', '--', '--b'], { from: 'user' });
      expect(got).toEqual(['-a', 'b', { force: true }, 'a', '-b', {}, '-a', '--b', {}]);
    });

    it('does not hide the error about an unknown option', () => {
      expect(() => parsed('--yess')).toThrow(/unknown option/);
      expect(() => parsed(ID, '--yess')).toThrow(/unknown option/);
    });

    it('differs from -h, which prints the help', () => {
      expect(() => parsed('-h')).toThrow(/outputHelp/);
    });
  });
});
