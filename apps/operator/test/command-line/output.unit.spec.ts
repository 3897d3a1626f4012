import { execFileSync } from 'node:child_process';
import { AdministrationError } from '#operations/administration.error.js';
import { planImport } from '#clients/operations/file/import-plan.js';
import { readFile } from '#clients/operations/file/read-file.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { quoted } from '#operations/wording.js';
import { reportFailure } from '../../src/command-line/failure.js';
import { nextText } from '../../src/command-line/flags.js';
import { warn } from '../../src/command-line/output.js';
import { commandLine } from '../../src/command-line/shell.js';

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
