import { execFileSync } from 'node:child_process';
import { nextText } from '../../src/command-line/flags.js';
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

  it('begins with the name of the running command', () => {
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
