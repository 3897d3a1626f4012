import { counted, printable, quoted } from '#administration/text.js';
import { publishUserEnded } from '../connections/logout.connection.js';
import { recordCommand } from '../audit/record-command.js';
import { confirmed } from '../command-line/dialog.js';
import { InputError, validated } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { printFields, printLine, printResult, printTable, type JsonOption } from '../command-line/output.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings, DatabaseSettings } from '../settings/settings.js';
import { userImportCommand } from './import/user-import.command.js';
import { generatePassword, readPassword } from './password.js';
import { NewUserDto, PasswordDto, UserChangesDto, UserListDto } from './user.dto.js';
import {
  createUser,
  deleteUser,
  disableUser,
  enableUser,
  listUsers,
  setLocale,
  setPassword,
  showUser,
} from './user.service.js';

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
    .description('list users in the order of their ids, a page at a time; never a password hash')
    .option('--search <text>', 'part of the email address, user name or name')
    .option('--limit <number>', 'how many at most, 1 to 1000 (default: 100)', Number)
    .option('--after <id>', 'only users with a greater id: the next page', Number)
    .jsonOption('print a JSON array')
    .examples('user list --search @example.com', 'user list --limit 1000 --after 4711 --json')
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
    .command('disable')
    .argument(...LOGIN)
    .description('end all sessions and grants of a user, and refuse their logins')
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

async function create({
  json,
  passwordStdin,
  ...options
}: JsonOption & { passwordStdin?: boolean }): Promise<void> {
  const given = passwordStdin ? { password: await readPassword() } : {};
  const input = validated(NewUserDto, { ...options, ...given });
  const generated = input.password === undefined ? generatePassword() : null;
  const settings = readSettings(ChangeSettings);
  const user = await createUser(settings, input, input.password ?? generated ?? '');
  const { id, email, username, name, timeZone, locale } = user;
  const created = { id, email, username, name, time_zone: timeZone, locale, password: generated };
  printResult({ json }, created, () => {
    printLine('Created the user:\n');
    printFields({ ...created, id: String(id), locale: locale ?? 'none', password: generated ?? 'as given' });
    if (generated) printLine('\nThe password is shown only once: the service stores its hash.');
  });
  await recordCommand(settings, { type: 'user.created', user_id: id });
}

async function list({ json, ...options }: JsonOption): Promise<void> {
  const filter = validated(UserListDto, options);
  const { page, more } = await listUsers(readSettings(DatabaseSettings), filter);
  const users = page.map(({ id, username, email, name, createdAt, disabledAt, disabledBy }) => ({
    id,
    username,
    email,
    name,
    created_at: createdAt.toISOString(),
    disabled_at: disabledAt?.toISOString() ?? null,
    disabled_by: disabledBy,
  }));
  printResult({ json }, users, () => {
    if (users.length === 0) return printLine('No users found.');
    printTable(
      ['id', 'username', 'email', 'created_at', 'disabled_at', 'disabled_by', 'name'],
      users.map(({ id, username, email, name, created_at, disabled_at, disabled_by }) => [
        String(id),
        username,
        printable(email),
        created_at.slice(0, 10),
        disabled_at?.slice(0, 10) ?? '',
        disabled_by.join(', '),
        printable(name),
      ]),
    );
    if (more) printLine(`\nFor the next page, add --after ${users.at(-1)?.id}`);
  });
}

async function show(login: string, options: JsonOption): Promise<void> {
  const user = await showUser(readSettings(DatabaseSettings), login);
  const described = {
    id: user.id,
    username: user.username,
    email: user.email,
    email_verified: user.emailVerified,
    name: user.name,
    issuer: user.issuer,
    external_id: user.externalId,
    has_password: user.hasPassword,
    time_zone: user.timeZone,
    locale: user.locale,
    organization_id: user.organizationId,
    created_at: user.createdAt.toISOString(),
    disabled_at: user.disabledAt?.toISOString() ?? null,
    disabled_by: user.disabledBy,
    live_grants: user.liveGrants,
  };
  printResult(options, described, () =>
    printFields(
      Object.fromEntries(
        Object.entries(described).map(([name, value]) => [name, printable(fieldText(value))]),
      ),
    ),
  );
}

function fieldText(value: string | number | boolean | readonly string[] | null): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') return value?.join(', ') || 'none';
  return String(value);
}

async function update(login: string, { json, ...options }: JsonOption): Promise<void> {
  const { locale: given } = validated(UserChangesDto, options);
  const locale = given === 'none' ? null : given;
  const settings = readSettings(ChangeSettings);
  const { id, username } = await setLocale(settings, login, locale);
  printResult({ json }, { username, locale }, () =>
    printLine(`${username} now sees the pages in ${languageOf(locale)}.`),
  );
  await recordCommand(settings, { type: 'user.updated', user_id: id, detail: { locale } });
}

async function changePassword(
  login: string,
  {
    passwordStdin,
    endSessions = false,
    ...options
  }: JsonOption & { passwordStdin?: boolean; endSessions?: boolean },
): Promise<void> {
  const given = passwordStdin ? await readPassword() : null;
  const { password } = validated(PasswordDto, { password: given ?? generatePassword() });
  const settings = readSettings(ChangeSettings);
  const { id, username } = await setPassword(settings, login, password, endSessions);
  if (endSessions) await publishUserEnded(settings, id);
  const generated = given === null ? password : null;
  printResult(options, { id, username, password: generated, sessions_ended: endSessions }, () => {
    const sessions = endSessions
      ? ' and ended every session.'
      : '. Open sessions stay open: --end-sessions ends them.';
    printLine(`Changed the password of ${username}${sessions}`);
    if (generated !== null)
      printLine(`\n  ${generated}\n\nIt is shown only once: the service stores its hash.`);
  });
  const detail = { sessions_ended: endSessions };
  await recordCommand(settings, { type: 'user.password_changed', user_id: id, detail });
}

async function disable(login: string, options: JsonOption): Promise<void> {
  const { id, username, first, revokedGrants } = await disableUser(readSettings(ChangeSettings), login);
  const result = { id, username, disabled: true, disabled_before: !first, revoked_grants: revokedGrants };
  printResult(options, result, () =>
    printLine(
      first
        ? `Disabled ${username} and revoked ${counted(revokedGrants, 'grant')}: no session or token works any more.`
        : `${username} was disabled already; no session or token works any more.`,
    ),
  );
}

async function enable(
  login: string,
  { overrideProduct = false, ...options }: JsonOption & { overrideProduct?: boolean },
): Promise<void> {
  const settings = readSettings(ChangeSettings);
  const { id, username, wasDisabled, disabledBy } = await enableUser(settings, login, overrideProduct);
  const disabled = disabledBy.length > 0;
  const result = { id, username, disabled, disabled_before: wasDisabled, disabled_by: disabledBy };
  printResult(options, result, () => {
    if (!wasDisabled) printLine(`${username} was not disabled.`);
    else if (disabled)
      printLine(
        `${username} stays disabled, because the product has disabled them, too.\n` +
          'It enables them by oauth.user.upsert with "active": true; --override-product does so here.',
      );
    else printLine(`Enabled ${username}, who has to log in and allow each application again.`);
  });
  await recordCommand(settings, {
    type: 'user.enabled',
    user_id: id,
    detail: { disabled_by: disabledBy },
  });
}

async function remove(login: string, { yes, ...options }: JsonOption & { yes?: boolean }): Promise<void> {
  const question = `Delete the user ${quoted(login)} and revoke every access they granted? This cannot be undone.`;
  if (!(await confirmed(yes ?? false, question))) throw new InputError(['nothing was deleted']);
  const { id, username, first, revokedGrants } = await deleteUser(readSettings(ChangeSettings), login);
  const result = { id, username, deleted: true, deleted_before: !first, revoked_grants: revokedGrants };
  printResult(options, result, () =>
    printLine(
      first
        ? `Deleted ${username} and revoked ${counted(revokedGrants, 'grant')}: no session or token works any more.`
        : `${username} was deleted in the meantime; no session or token works any more.`,
    ),
  );
}

function languageOf(locale: string | null): string {
  if (locale === null) return 'the language that the browser requests';
  return `${new Intl.DisplayNames('en', { type: 'language' }).of(locale)} (${locale})`;
}
