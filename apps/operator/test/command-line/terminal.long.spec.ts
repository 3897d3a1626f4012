import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { NODE_ARGUMENTS } from '#test/support/built.js';
import { useOperator } from '../support/use-operator.js';

const operator = useOperator();

/** Runs a command in a terminal of this width, emulated by `script` of util-linux. */
async function atTerminal(args: string, columns: number, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const node = [process.execPath, ...NODE_ARGUMENTS].map((word) => `'${word}'`).join(' ');
  const line = `stty cols ${columns}; exec ${node} dist/apps/operator.cjs ${args}`;
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...operator.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await text(child.stdout)).replaceAll('\r', '').trimEnd().split('\n');
}

const NAME = 'Calendar Connect for Teams and Their Many Assistants';

beforeAll(async () => {
  const { code } = await operator.run([
    'client',
    'create',
    '--name',
    NAME,
    '--redirect-uri',
    'https://a.example/cb',
  ]);
  expect(code).toBe(0);
});

async function created(): Promise<{ client_id: string }> {
  const args = ['--name', 'Wide', '--redirect-uri', 'https://a.example/cb', '--json'];
  return JSON.parse((await operator.run(['client', 'create', ...args])).stdout) as { client_id: string };
}

describe('a command at a terminal', () => {
  it('prints a table that fits, with whole ids and a shortened name', async () => {
    const [heading = '', row = ''] = await atTerminal('client list', 100, { NO_COLOR: '1' });
    expect(heading).toMatch(/^client_id +type/);
    expect(row).toMatch(/^sc_[a-z2-7]{24} .*Calendar C.*…$/);
    expect(row.length).toBeLessThanOrEqual(100);
    const piped = await operator.run(['client', 'list']);
    expect(piped.stdout).toContain(NAME);
  });

  it('colours tables, errors and help, but not with NO_COLOR or TERM=dumb', async () => {
    const escape = '\u001b[';
    for (const args of ['client list', 'client show sc_unknown', 'client nothing', 'client --help']) {
      const [coloured, plain, dumb] = await Promise.all([
        atTerminal(args, 100),
        atTerminal(args, 100, { NO_COLOR: '1' }),
        atTerminal(args, 100, { TERM: 'dumb' }),
      ]);
      expect(coloured.join('\n')).toContain(escape);
      expect(plain).toEqual(stripVTControlCharacters(coloured.join('\n')).split('\n'));
      expect(dumb).toEqual(plain);
    }
  });

  it('wraps the help at the width of the terminal, except lines to copy', async () => {
    for (const args of ['--help', 'client create --help', 'keys next --help']) {
      const lines = await atTerminal(args, 60, { NO_COLOR: '1' });
      const wide = lines.filter((line) => line.length > 60);
      expect(wide.filter((line) => !/^ {2}\$| {6}--/.test(line))).toEqual([]);
    }
    const settings = (await atTerminal('--help', 60, { NO_COLOR: '1' })).join('\n');
    expect(settings).toMatch(/^ {2}NATS_URL {9}client create, .*\n {19}\w/m);
  });

  it('wraps prose and values, but not commands', async () => {
    const { client_id: id } = await created();
    const plain = (args: string, columns: number) => atTerminal(args, columns, { NO_COLOR: '1' });
    const refused = await plain('client show sc_unknown', 40);
    expect(Math.max(...refused.map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(refused.length).toBeGreaterThan(1);
    const uris = ['https://a.example/cb', 'https://b.example/cb', 'https://c.example/cb'];
    await operator.run([
      'client',
      'update',
      id,
      ...uris.flatMap((uri) => ['--add-redirect-uri', `${uri}?x`]),
    ]);
    const shown = (await plain(`client show ${id}`, 84)).join('\n');
    expect(shown).toMatch(/^redirect_uris( +)https:\S+ https:\S+\n {13}\1https:\S+ https:\S+$/m);
    const rotated = await plain(`client secret rotate ${id}`, 60);
    const command = rotated.find((line) => line.includes('client secret revoke')) ?? '';
    expect(command).toMatch(new RegExp(`^ {2}operator client secret revoke ${id} [0-9a-f-]{36}$`));
    const prose = rotated.filter((line) => line !== command && !/^\S+ {2,}/.test(line));
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it('does not wrap output for programs', async () => {
    const piped = await operator.run(['client', 'export']);
    expect(await atTerminal('client export', 40)).toEqual(piped.stdout.trimEnd().split('\n'));
  });

  it('prints JSON without colour', async () => {
    const lines = await atTerminal('client list --json', 40);
    expect(JSON.parse(lines.join('\n'))).toContainEqual(expect.objectContaining({ name: NAME }));
  });
});
