import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { useOperatorBench } from './operator-bench.js';

const bench = useOperatorBench();

/** Runs a built command at a terminal of that many columns; `script` of util-linux makes the terminal. */
async function atTerminal(args: string, columns: number, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const line = `stty cols ${columns}; exec '${process.execPath}' dist/apps/operator.cjs ${args}`;
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...bench.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await text(child.stdout)).replaceAll('\r', '').trimEnd().split('\n');
}

const NAME = 'Calendar Connect for Teams and Their Many Assistants';

beforeAll(async () => {
  const { code } = await bench.run([
    'client',
    'create',
    '--name',
    NAME,
    '--redirect-uri',
    'https://a.example/cb',
  ]);
  expect(code).toBe(0);
});

describe('a command at a terminal', () => {
  it('prints a table that fits, with whole ids and a shortened name', async () => {
    const [heading = '', row = ''] = await atTerminal('client list', 100, { NO_COLOR: '1' });
    expect(heading).toMatch(/^client_id +type/);
    expect(row).toMatch(/^sc_[a-z2-7]{24} .*Calendar Con.*…$/);
    expect(row.length).toBeLessThanOrEqual(100);
    const piped = await bench.run(['client', 'list']);
    expect(piped.stdout).toContain(NAME);
  });

  it('colours tables, errors and help, and nothing with NO_COLOR or TERM=dumb', async () => {
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

  it('wraps the help at its width, except lines to copy', async () => {
    for (const args of ['--help', 'client create --help', 'keys next --help']) {
      const lines = await atTerminal(args, 60, { NO_COLOR: '1' });
      const wide = lines.filter((line) => line.length > 60);
      expect(wide.filter((line) => !/^ {2}\$| {6}--/.test(line))).toEqual([]);
    }
    const settings = (await atTerminal('--help', 60, { NO_COLOR: '1' })).join('\n');
    expect(settings).toMatch(/^ {2}NATS_URL {9}client create, .*client\n {19}disable,/m);
  });

  it('prints JSON without colour', async () => {
    const lines = await atTerminal('client list --json', 40);
    expect(JSON.parse(lines.join('\n'))).toMatchObject([{ name: NAME }]);
  });
});
