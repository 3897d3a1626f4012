import { useOperator } from '../support/use-operator.js';

const CLIENT = 'sc_abcdefghijklmnopqrstuvwx';
/** Commands that use stored data, with valid input and the required URLs except DATABASE_URL. */
const COMMANDS: [command: string, rest: string[], needs: string[]][] = [
  [
    'client create',
    ['--name', 'A', '--redirect-uri', 'https://a.example/cb'],
    ['AUTH_URL', 'BASE_URL', 'NATS_URL'],
  ],
  ['client update', [CLIENT, '--name', 'B'], ['NATS_URL']],
  ['client disable', [CLIENT], ['NATS_URL']],
  ['client enable', [CLIENT], ['NATS_URL']],
  ['client delete', [CLIENT, '--yes'], ['NATS_URL']],
  ['client import', ['-'], ['NATS_URL']],
  ['client import', ['-', '--dry-run'], []],
  ['client export', [], []],
  ['client secret rotate', [CLIENT], ['NATS_URL']],
  ['client secret revoke', [CLIENT, 'cs_1'], ['NATS_URL']],
  ['resource-server revoke', ['rs_1'], ['NATS_URL']],
  ['resource-server update', ['rs_1', '--name', 'A'], ['NATS_URL']],
  ['console grant', ['ada', '--role', 'viewer'], ['NATS_URL']],
  ['console revoke', ['ada'], ['NATS_URL']],
  ['resource-server create', ['--name', 'A'], ['BASE_URL', 'NATS_URL']],
  ['client list', [], []],
  ['client search', ['calendar'], []],
  ['client handover', [CLIENT], ['AUTH_URL', 'BASE_URL', 'API_URL', 'NATS_URL']],
  ['client show', [CLIENT], []],
  ['client secret list', [CLIENT], []],
  ['client owner add', [CLIENT, 'nobody'], ['NATS_URL']],
  ['client owner remove', [CLIENT, 'nobody'], ['NATS_URL']],
  ['client owner list', [CLIENT], []],
  ['request list', [], []],
  ['request show', ['6f1c5f0e-3a0b-4a39-9d5e-2f6f4a1b7c11'], []],
  ['request approve', ['6f1c5f0e-3a0b-4a39-9d5e-2f6f4a1b7c11', '--reviewed', '1'], ['NATS_URL']],
  [
    'request ask',
    ['6f1c5f0e-3a0b-4a39-9d5e-2f6f4a1b7c11', '--reviewed', '1', '--message', 'Why?'],
    ['NATS_URL'],
  ],
  [
    'request reject',
    ['6f1c5f0e-3a0b-4a39-9d5e-2f6f4a1b7c11', '--reviewed', '1', '--message', 'No'],
    ['NATS_URL'],
  ],
  ['resource-server list', [], []],
  ['console list', [], []],
  ['user create', ['--email', 'a@example.com', '--username', 'a', '--name', 'A'], ['NATS_URL']],
  ['user update', ['nobody', '--locale', 'de'], ['NATS_URL']],
  ['user list', [], []],
  ['user show', ['nobody'], []],
  ['user set-password', ['nobody'], ['NATS_URL']],
  ['user enable', ['nobody'], ['NATS_URL']],
  ['user disable', ['nobody'], ['NATS_URL']],
  ['user logout', ['nobody'], ['NATS_URL']],
  ['user delete', ['nobody', '--yes'], ['NATS_URL']],
  ['grant list', [], []],
  ['grant show', ['GbWvlLZo4bRhl8YlZ3RoUh4Nm4dX1QyS0m0O8m3pKcA'], []],
  ['grant revoke', ['--all', '--yes'], ['NATS_URL']],
  ['event list', [], []],
  ['event show', ['6f1c5f0e-3a0b-4a39-9d5e-2f6f4a1b7c11'], []],
  ['event redeliver', ['6f1c5f0e-3a0b-4a39-9d5e-2f6f4a1b7c11'], ['NATS_URL']],
  ['event pause', ['sc_nobody'], ['NATS_URL']],
  ['event enable', ['sc_nobody'], ['NATS_URL']],
  ['user import', ['-'], ['NATS_URL']],
  ['audit tail', [], ['NATS_URL']],
  ['audit search', [], ['NATS_URL']],
  ['audit export', [], ['NATS_URL']],
  ['doctor', [], ['AUTH_URL', 'BASE_URL', 'API_URL', 'NATS_URL']],
  ['keys list', [], ['NATS_URL']],
  ['keys next', [], ['NATS_URL']],
  ['explain', ['dhdpfs_iGBYa'], ['NATS_URL']],
  ['migrate', [], []],
];

describe('the settings of the commands', () => {
  const operator = useOperator();

  it.each(COMMANDS)('are required for %s only if the command uses them', async (command, rest, needs) => {
    const env = { DATABASE_URL: operator.databaseUrl };
    const { stderr } = await operator.run([...command.split(' '), ...rest], env);
    const missing = [...stderr.matchAll(/(\w+_URL) is missing/g)].map(([, name]) => name ?? '');
    expect(new Set(missing)).toEqual(new Set(needs));
  });

  const wanted = new Map<string, Set<string>>();
  for (const [command, , needs] of COMMANDS)
    for (const name of needs) wanted.set(name, (wanted.get(name) ?? new Set()).add(command));
  // Needed only for clients of client_credentials, and to recognize the console's own client.
  const changed = [
    'client update',
    'client disable',
    'client delete',
    'client import',
    'client secret revoke',
    'event pause',
    'event enable',
  ];
  wanted.set('CONSOLE_URL', new Set(['client create', 'client handover', ...changed]));

  it('are listed in the help', async () => {
    const { stdout } = await operator.run(['--help'], {});
    const rows = stdout.matchAll(/^ {2}(\w+_URL) +(.*(?:\n {19}.*)*)$/gm);
    expect(listed(rows)).toEqual(
      new Map([...wanted, ['DATABASE_URL', new Set(['all commands but scope list'])]]),
    );
  });
});

/** Returns the commands that a table lists for each variable. */
const listed = (rows: Iterable<RegExpMatchArray>): Map<string, Set<string>> =>
  new Map(
    [...rows].map(([, name = '', commands = '']) => [
      name,
      new Set(commands.replaceAll('`', '').replaceAll(/\s+/g, ' ').split(', ')),
    ]),
  );
