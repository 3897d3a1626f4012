import { counted, quoted } from '#operations/wording.js';
import { confirmed, readSecretLine } from '../command-line/prompts.js';
import { InputError, withNone } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { confirmedChange, makeChange } from '../command-line/change.js';
import {
  asText,
  type JsonOption,
  printFields,
  printLine,
  printList,
  printPages,
  printResult,
} from '../command-line/output.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings } from '../settings/settings.js';
import { userImportCommand } from './user-import.command.js';

const LOGIN = ['<login>', 'the email address, user name or external_id, or id: and the id'] as const;
const PASSWORD_STDIN = [
  '--password-stdin',
  'read the password, 8 to 256 characters, from a line of stdin',
] as const;

export function userCommand(): OperatorCommand {
  const user = new OperatorCommand('user').description('users of the product').examples('user create --help');

  user
    .command('create')
    .description('create a user, with a generated password or one from stdin')
    .option('--email <email>', 'address to log in with, unique in any letter case')
    .option('--username <username>', 'name to log in with, unique in any letter case')
    .option('--name <name>', 'name to show')
    .option('--time-zone <zone>', 'IANA name of the time zone (default: UTC)')
    .option('--locale <locale>', "language of the pages, like de (default: the browser's)")
    .option(...PASSWORD_STDIN)
    .jsonOption('print JSON; password is null when it came from stdin')
    .examples(
      'user create --email ada@example.com --username ada --name "Ada Lovelace"',
      'user create --email ada@example.com --username ada --name Ada \\\n' +
        '      --time-zone Europe/London --password-stdin < password-file',
    )
    .action(create);

  user.addCommand(userImportCommand());

  user
    .command('list')
    .description('list users, newest first, a page at a time; never a password hash')
    .option('--search <text>', 'part of the email address, user name, name or external_id; or id: and the id')
    .option('--state <state>', 'only enabled or only disabled users')
    .option(
      '--kind <kind>',
      'only users with a password, of the product, or with a role in the console: password, product, operator',
    )
    .option('--limit <number>', 'how many at most, 1 to 1000 (default: 100)', Number)
    .option('--cursor <cursor>', 'another page, as the list names it')
    .jsonOption('print a JSON array')
    .examples('user list --search @example.com', 'user list --state disabled --limit 1000 --json')
    .action(list);

  user
    .command('show')
    .argument(...LOGIN)
    .description('show a user and how many applications have access; never a password hash')
    .jsonOption()
    .notes('"grant list --user" lists what the user has allowed.')
    .examples('user show ada@example.com', 'user show id:4711 --json')
    .action(show);

  user
    .command('update')
    .argument(...LOGIN)
    .description('set the language of the pages for a user')
    .option('--locale <locale>', "language of the pages, like de; none: the browser's")
    .jsonOption()
    .examples('user update ada@example.com --locale ja')
    .action(update);

  user
    .command('set-password')
    .argument(...LOGIN)
    .description('replace the password of a user with a generated one or one from stdin')
    .option(...PASSWORD_STDIN)
    .option('--end-sessions', 'end every session of the user')
    .jsonOption('print JSON; password is null when it came from stdin')
    .notes(
      'Applications keep their access: "user disable" ends it. Sessions stay open without --end-sessions.',
    )
    .examples(
      'user set-password ada@example.com --end-sessions',
      'user set-password ada@example.com --password-stdin < password-file',
    )
    .action(changePassword);

  user
    .command('logout')
    .argument(...LOGIN)
    .description('end every session of a user; applications keep their access')
    .jsonOption()
    .notes('Applications with OpenID Connect are notified. "user disable" ends the grants, too.')
    .examples('user logout ada@example.com')
    .action(logOut);

  user
    .command('disable')
    .argument(...LOGIN)
    .description('end all sessions and grants of a user, and refuse their logins')
    .option('--yes', 'even if the user is the last admin of the console')
    .jsonOption()
    .notes(
      'Safe to repeat: if a service did not answer, run it again, and it continues. "user enable" lets the user log in again.',
    )
    .examples('user disable ada@example.com')
    .action(disable);

  user
    .command('enable')
    .argument(...LOGIN)
    .description('allow a disabled user to log in again; they must grant access to applications again')
    .option('--override-product', 'even if the product has disabled the user')
    .jsonOption()
    .notes('A user whom the product has disabled stays disabled: it enables them by oauth.user.upsert.')
    .examples('user enable ada@example.com')
    .action(enable);

  user
    .command('delete')
    .argument(...LOGIN)
    .description('delete a user, and end all their sessions and grants')
    .option('--yes', 'delete without a confirmation')
    .jsonOption()
    .notes(
      'Safe to repeat: if a service did not answer, the user is disabled and not deleted yet; run it again, and it continues.',
    )
    .examples('user delete ada@example.com --yes')
    .action(remove);

  return user;
}

interface PasswordOption {
  readonly passwordStdin?: boolean | undefined;
}

async function readPassword({ passwordStdin = false }: PasswordOption): Promise<{ password?: string }> {
  return passwordStdin ? { password: await readSecretLine('--password-stdin', 'the password') } : {};
}

async function create({ json, passwordStdin, ...options }: JsonOption & PasswordOption): Promise<void> {
  const input = { ...options, ...(await readPassword({ passwordStdin })) };
  await makeChange(
    { json },
    ({ users }, actor) => users.create(actor, input),
    (created) => {
      printLine('Created the user:\n');
      printFields(asText({ ...created, password: created.password ?? 'as given' }));
      if (created.password !== null)
        printLine('\nThe password is shown only once: the service stores its hash.');
    },
  );
}

async function list({ json, ...filter }: JsonOption): Promise<void> {
  const page = await withAdministration(DatabaseSettings, ({ users }) => users.list(filter));
  printList({ json }, page.items, 'No users found.', [
    'id',
    'username',
    'email',
    'created_at',
    'disabled_at',
    'disabled_by',
    'name',
  ]);
  printPages(page);
}

async function show(login: string, options: JsonOption): Promise<void> {
  const user = await withAdministration(DatabaseSettings, ({ users }) => users.find(login));
  printResult(options, user, () =>
    printFields(asText({ ...user, disabled_by: user.disabled_by.join(', ') || null })),
  );
}

async function update(login: string, { json, locale }: JsonOption & { locale?: string }): Promise<void> {
  const input = withNone({ locale });
  await makeChange(
    { json },
    ({ users }, actor) => users.update(actor, login, input),
    (result) => printLine(`${result.username} now sees the pages in ${languageOf(result.locale)}.`),
  );
}

async function changePassword(
  login: string,
  { passwordStdin, endSessions, ...options }: JsonOption & PasswordOption & { endSessions?: boolean },
): Promise<void> {
  const input = { endSessions, ...(await readPassword({ passwordStdin })) };
  await makeChange(
    options,
    ({ users }, actor) => users.setPassword(actor, login, input),
    (result) => {
      const sessions = result.sessions_ended
        ? ' and ended every session.'
        : '. Open sessions stay open: --end-sessions ends them.';
      printLine(`Changed the password of ${result.username}${sessions}`);
      if (result.password !== null)
        printLine(`\n  ${result.password}\n\nIt is shown only once: the service stores its hash.`);
    },
  );
}

async function logOut(login: string, options: JsonOption): Promise<void> {
  await makeChange(
    options,
    ({ users }, actor) => users.logOut(actor, login),
    (result) => printLine(`Logged out ${result.username}: every session has ended.`),
  );
}

async function disable(
  login: string,
  { yes = false, ...options }: JsonOption & { yes?: boolean },
): Promise<void> {
  await makeChange(
    options,
    ({ users }, actor) =>
      confirmedChange(yes, (isConfirmed) => users.disable(actor, login, undefined, isConfirmed)),
    (result) =>
      printLine(
        result.disabled_before
          ? `${result.username} was disabled already; no session or token works any more.`
          : `Disabled ${result.username} and revoked ${counted(result.revoked_grants, 'grant')}: no session or token works any more.`,
      ),
  );
}

async function enable(
  login: string,
  { overrideProduct, ...options }: JsonOption & { overrideProduct?: boolean },
): Promise<void> {
  await makeChange(
    options,
    ({ users }, actor) => users.enable(actor, login, overrideProduct),
    (result) => {
      const { username } = result;
      if (!result.disabled_before) printLine(`${username} was not disabled.`);
      else if (result.disabled)
        printLine(
          `${username} stays disabled, because the product has disabled them, too.\n` +
            'It enables them by oauth.user.upsert with "active": true; --override-product does so here.',
        );
      else printLine(`Enabled ${username}, who has to log in and allow each application again.`);
    },
  );
}

async function remove(
  login: string,
  { yes = false, ...options }: JsonOption & { yes?: boolean },
): Promise<void> {
  await makeChange(
    options,
    async ({ users }, actor) => {
      if (!yes) {
        const { live_grants: grants } = await users.find(login);
        const question = `Delete the user ${quoted(login)} and revoke ${counted(grants, 'grant')}? This cannot be undone.`;
        if (!(await confirmed(false, question))) throw new InputError(['nothing was deleted']);
      }
      return confirmedChange(yes, (isConfirmed) => users.delete(actor, login, undefined, isConfirmed));
    },
    (result) =>
      printLine(
        result.deleted_before
          ? `${result.username} was deleted in the meantime; no session or token works any more.`
          : `Deleted ${result.username} and revoked ${counted(result.revoked_grants, 'grant')}: no session or token works any more.`,
      ),
  );
}

function languageOf(locale: string | null): string {
  if (locale === null) return 'the language that the browser requests';
  return `${new Intl.DisplayNames('en', { type: 'language' }).of(locale)} (${locale})`;
}
