import { expectEqual, type Transcript } from '../demo/transcript.js';
import { type DemoContext, type Person, type Registered, ThirdParty } from './third-party.js';
import type { Tokens } from '../demo/application.js';
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import type { RunFile } from '../demo/run-script.js';
import { CommandLine } from './command-line.js';

async function explainError({ operator, transcript, client, thirdParty }: DemoContext): Promise<void> {
  const reference = await transcript.step('The application reports an error with its reference', async () => {
    const answer = await thirdParty.presentCode(await thirdParty.code(), `${client.redirect_uri}/`);
    expectEqual('status', 400, answer.status);
    expectEqual('error', 'invalid_grant', answer.json['error'] as string);
    const value = String(answer.json['error_reference']);
    return { proof: `error_reference ${value}`, value };
  });
  await transcript.step('Explain the error', async () => {
    await operator.run(['explain', reference], {
      shows: [client.redirect_uri, client.client_id],
      hides: [client.client_secret],
      patient: true,
    });
    return {
      proof: 'the check that failed, the values that it compared, and who can fix it',
      value: undefined,
    };
  });
  await transcript.step('List all refusals of this application', async () => {
    await operator.run(['explain', '--client', client.client_id, '--since', '1h'], {
      shows: [reference],
      patient: true,
    });
    return { proof: 'grouped by cause', value: undefined };
  });
}

/** Shows that disabling an application, revoking a grant and disabling a user end access immediately. */
async function withdrawAccess(
  { operator, transcript, client, user, thirdParty }: DemoContext,
  tokens: Tokens,
): Promise<void> {
  await transcript.step('Disable the application, and enable it again', async () => {
    await thirdParty.expectStatus(200, tokens);
    await operator.run(['client', 'disable', client.client_id], { shows: ['Disabled'] });
    await thirdParty.expectStatus(401, tokens);
    await operator.run(['client', 'enable', client.client_id], { shows: ['Enabled'] });
    await thirdParty.expectStatus(200, tokens);
    return { proof: 'its token was rejected immediately, and works again', value: undefined };
  });
  await transcript.step('Revoke one grant', async () => {
    const grants = await operator.json<{ id: string }[]>('grant', 'list', '--client', client.client_id);
    for (const { id } of grants.slice(0, 1))
      await operator.run(['grant', 'show', id], { shows: [/^state +live$/m] });
    for (const { id } of grants)
      await operator.run(['grant', 'revoke', id], { shows: ['none of its tokens'] });
    await thirdParty.expectStatus(401, tokens);
    return { proof: 'the token is refused', value: undefined };
  });
  await transcript.step('Disable a user whose account was compromised', async () => {
    const newest = await thirdParty.connect();
    await thirdParty.expectStatus(200, newest);
    await operator.run(['user', 'disable', user.username], { shows: ['Disabled'] });
    await thirdParty.expectStatus(401, newest);
    await operator.run(['user', 'enable', user.username], { shows: ['Enabled'] });
    const { password } = await operator.json<{ password: string }>(
      'user',
      'set-password',
      user.username,
      '--end-sessions',
    );
    transcript.secrets.add(password, '…');
    await thirdParty.expectStatus(401, newest);
    user.password = password;
    await thirdParty.expectStatus(200, await thirdParty.connect());
    return {
      proof: 'all access ended immediately; the user logs in with a new password',
      value: undefined,
    };
  });
  await transcript.step('Revoke all grants of the application', async () => {
    const newest = await thirdParty.connect();
    await operator.run(['grant', 'revoke', '--client', client.client_id, '--yes'], { shows: ['Revoked'] });
    await thirdParty.expectStatus(401, newest);
    return { proof: 'its tokens are rejected', value: undefined };
  });
}

async function inspectInstallation({
  operator,
  transcript,
  client,
  user,
  folder,
}: DemoContext): Promise<void> {
  await transcript.step('Read the audit trail', async () => {
    await operator.run(['audit', 'search', '--client', client.client_id, '--type', 'client'], {
      shows: ['client.created', 'client.disabled', 'client.enabled'],
      patient: true,
    });
    await operator.run(['audit', 'search', '--user', user.username, '--since', '1h', '--limit', '10'], {
      shows: ['grant.revoked'],
    });
    await operator.run(['audit', 'export', '--client', client.client_id, '--output', 'audit.jsonl']);
    const text = await readFile(join(folder, 'audit.jsonl'), 'utf8');
    expectEqual('secrets in the export', 0, text.split(client.client_secret).length - 1);
    const created = text.split('\n').find((line) => line.includes('client.created')) ?? '{}';
    const { operator: name } = JSON.parse(created) as { operator?: string };
    expectEqual('operator', 'grace', name?.split('@')[0]);
    return { proof: 'each event with its user and operator', value: undefined };
  });
  await transcript.step('List the keys, and prepare their rotation', async () => {
    await operator.run(['keys', 'list'], { shows: [/token \d/] });
    await operator.run(['keys', 'next', '--begin'], { secret: true });
    return { proof: 'every process has the same keys; the next value is ready', value: undefined };
  });
  await transcript.step('Check the installation', async () => {
    const out = await operator.run(['doctor', '--fail-on', 'error'], {
      shows: [/\d+ checks passed; 0 errors/],
    });
    return { proof: out.trimEnd().split('\n').at(-1) ?? '', value: undefined };
  });
}

const REDIRECT_URI = 'https://rooms.example.com/callback';

/** Runs an operator's typical commands on a new application and a new user, and deletes both. @throws StepFailure */
export async function runOperatorDemo(run: RunFile, transcript: Transcript): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'operator-demo-'));
  const operator = new CommandLine(transcript, folder);
  transcript.line(
    "An operator's typical commands ($) and their output. Secrets are shortened to their first letters.",
  );
  try {
    const client = await register(operator, transcript);
    const user = await createUser(operator, transcript);
    const thirdParty = new ThirdParty({ ...run, client, user });
    const context: DemoContext = { operator, transcript, client, user, thirdParty, folder };
    await importFromFile(context);
    const tokens = await rotateSecret(context, run);
    await explainError(context);
    await withdrawAccess(context, tokens);
    await inspectInstallation(context);
    await deleteEverything(context);
  } finally {
    await rm(folder, { recursive: true });
  }
  transcript.line('');
  transcript.line('✓ Every step succeeded.', 32);
}

async function register(operator: CommandLine, transcript: Transcript): Promise<Registered> {
  const name = `Room Finder ${randomBytes(3).toString('hex')}`;
  const client = await transcript.step('Register an application', async () => {
    const out = await operator.run(['client', 'create', '--name', name, '--redirect-uri', REDIRECT_URI], {
      shows: ['shown only once'],
    });
    const [clientId = ''] = /sc_[a-z2-7]{24}/.exec(out) ?? [];
    const [secret = ''] = /scs_[\w-]{43}/.exec(out) ?? [];
    const value = { client_id: clientId, client_secret: secret, redirect_uri: REDIRECT_URI };
    return { proof: 'a client id, a secret that is shown once, and three URLs', value };
  });
  await transcript.step('Print the handover document', async () => {
    await operator.run(
      ['client', 'handover', client.client_id, '--secret-delivery', 'in your password manager'],
      { shows: [client.client_id, 'in your password manager'], hides: [client.client_secret] },
    );
    return {
      proof: 'Markdown with the settings and sample requests, without the secret',
      value: undefined,
    };
  });
  await transcript.step('Find the application', async () => {
    await operator.run(['client', 'search', name], { shows: [client.client_id] });
    return { proof: 'one application with this name', value: undefined };
  });
  return client;
}

async function createUser(operator: CommandLine, transcript: Transcript): Promise<Person> {
  return transcript.step('Create a user, and show it', async () => {
    const username = `grace-${randomBytes(3).toString('hex')}`;
    const email = `${username}@example.com`;
    const args = ['--email', email, '--username', username, '--name', 'Grace Hopper'];
    const { password } = await operator.json<{ password: string }>('user', 'create', ...args);
    transcript.secrets.add(password, '…');
    await operator.run(['user', 'list', '--search', username], { shows: [email] });
    await operator.run(['user', 'show', username], { shows: [/^has_password +yes$/m], hides: ['argon2'] });
    return { proof: 'the user exists, and nothing shows a password', value: { email, username, password } };
  });
}

async function importFromFile({ operator, transcript, client, folder }: DemoContext): Promise<void> {
  const file = join(folder, 'clients.yaml');
  await transcript.step('Export the registration, and import a change', async () => {
    await operator.run(['client', 'export', client.client_id, '--output', 'clients.yaml']);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('name: Room Finder', 'name: Rooms'));
    await operator.run(['client', 'import', 'clients.yaml', '--dry-run'], { shows: ['+    name: Rooms'] });
    await operator.run(['client', 'import', 'clients.yaml'], { shows: ['updated 1'] });
    await operator.run(['client', 'import', 'clients.yaml'], { shows: ['updated 0'] });
    return {
      proof: 'a diff to review, one update, and none the second time',
      value: undefined,
    };
  });
}

/** @returns tokens of a refresh with the new secret */
async function rotateSecret(context: DemoContext, run: RunFile) {
  const { operator, transcript, client, user, thirdParty } = context;
  const tokens = await transcript.step('A user allows access', async () => {
    const value = await thirdParty.connect();
    await thirdParty.expectStatus(200, value);
    await operator.run(['grant', 'list', '--client', client.client_id], { shows: [user.username, 'live'] });
    return { proof: 'a live grant', value };
  });
  return transcript.step('Rotate the secret without downtime', async () => {
    const id = client.client_id;
    const out = await operator.run(['client', 'secret', 'rotate', id], {
      shows: ['The old one still works'],
    });
    const refreshed = await thirdParty.refresh(tokens);
    const [secret = ''] = /scs_[\w-]{43}/.exec(out) ?? [];
    const [, oldId = ''] = /secret revoke \S+ ([\w-]{36})/.exec(out) ?? [];
    context.client = { ...client, client_secret: secret };
    context.thirdParty = new ThirdParty({ ...run, client: context.client, user });
    await operator.run(['client', 'secret', 'revoke', id, oldId], { shows: ['Still live'] });
    return {
      proof: 'the old secret worked until it was revoked; the tokens stay valid',
      value: await context.thirdParty.refresh(refreshed),
    };
  });
}

async function deleteEverything({ operator, transcript, client, user }: DemoContext): Promise<void> {
  await transcript.step('Remove the application and the user', async () => {
    await operator.run(['client', 'delete', client.client_id, '--yes'], { shows: ['Deleted'] });
    await operator.run(['user', 'delete', user.username, '--yes'], { shows: ['Deleted'] });
    return { proof: 'both are deleted, with their data', value: undefined };
  });
}
