import { expectEqual, type Transcript } from '../demo/transcript.js';
import { type Day, Company, type Person, type Registered } from './day-state.js';
import type { Tokens } from '../demo/application.js';
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import type { RunFile } from '../demo/run-script.js';
import { CommandLine } from './command-line.js';

async function findOut({ operator, transcript, client, company }: Day): Promise<void> {
  const reference = await transcript.step('The application reports an error with its reference', async () => {
    const answer = await company.presentCode(await company.code(), `${client.redirect_uri}/`);
    expectEqual('status', 400, answer.status);
    expectEqual('error', 'invalid_grant', answer.json['error'] as string);
    const value = String(answer.json['error_reference']);
    return { proof: `error_reference ${value}`, value };
  });
  await transcript.step('Explain it', async () => {
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
  await transcript.step('See everything that was refused to this application', async () => {
    await operator.run(['explain', '--client', client.client_id, '--since', '1h'], {
      shows: [reference],
      patient: true,
    });
    return { proof: 'grouped by cause', value: undefined };
  });
}

/** Disables an application, revokes a grant and disables a user. Each ends access immediately. */
async function takeAway({ operator, transcript, client, user, company }: Day, tokens: Tokens): Promise<void> {
  await transcript.step('Disable the application, and enable it again', async () => {
    await company.expectStatus(200, tokens);
    await operator.run(['client', 'disable', client.client_id], { shows: ['Disabled'] });
    await company.expectStatus(401, tokens);
    await operator.run(['client', 'enable', client.client_id], { shows: ['Enabled'] });
    await company.expectStatus(200, tokens);
    return { proof: 'its token was refused at once, and works again', value: undefined };
  });
  await transcript.step('Revoke one grant', async () => {
    const grants = await operator.json<{ id: string }[]>('grant', 'list', '--client', client.client_id);
    for (const { id } of grants.slice(0, 1))
      await operator.run(['grant', 'show', id], { shows: [/^state +live$/m] });
    for (const { id } of grants)
      await operator.run(['grant', 'revoke', id], { shows: ['none of its tokens'] });
    await company.expectStatus(401, tokens);
    return { proof: 'the token is refused', value: undefined };
  });
  await transcript.step('Disable the user, whose account somebody took over', async () => {
    const newest = await company.connect();
    await company.expectStatus(200, newest);
    await operator.run(['user', 'disable', user.username], { shows: ['Disabled'] });
    await company.expectStatus(401, newest);
    await operator.run(['user', 'enable', user.username], { shows: ['Enabled'] });
    const { password } = await operator.json<{ password: string }>(
      'user',
      'set-password',
      user.username,
      '--end-sessions',
    );
    transcript.secrets.add(password, '…');
    await company.expectStatus(401, newest);
    user.password = password;
    await company.expectStatus(200, await company.connect());
    return {
      proof: 'every access ended at once; the user starts again with a new password',
      value: undefined,
    };
  });
  await transcript.step('Revoke everything that users gave to the application', async () => {
    const newest = await company.connect();
    await operator.run(['grant', 'revoke', '--client', client.client_id, '--yes'], { shows: ['Revoked'] });
    await company.expectStatus(401, newest);
    return { proof: 'none of its tokens works', value: undefined };
  });
}

async function proveThatAllIsWell({ operator, transcript, client, user, folder }: Day): Promise<void> {
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
    return { proof: 'what happened, to whom, and by which operator', value: undefined };
  });
  await transcript.step('Look at the keys, and prepare their rotation', async () => {
    await operator.run(['keys', 'list'], { shows: [/token \d/] });
    await operator.run(['keys', 'next', '--begin'], { secret: true });
    return { proof: 'every process has the same keys; the next value is ready', value: undefined };
  });
  await transcript.step('Examine the installation', async () => {
    const out = await operator.run(['doctor', '--fail-on', 'error'], {
      shows: [/\d+ checks passed; 0 errors/],
    });
    return { proof: out.trimEnd().split('\n').at(-1) ?? '', value: undefined };
  });
}

const REDIRECT_URI = 'https://rooms.example.com/callback';

/** Runs an operator's typical commands against the running product. Deletes its application and user at the end. @throws StepFailure */
export async function runDay(run: RunFile, transcript: Transcript): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'operator-day-'));
  const operator = new CommandLine(transcript, folder);
  transcript.line(
    "The operator's day: commands with $, and what they print. Secrets are shown by their first letters.",
  );
  try {
    const client = await register(operator, transcript);
    const user = await invite(operator, transcript);
    const company = new Company({ ...run, client, user });
    const day: Day = { operator, transcript, client, user, company, folder };
    await keepInGit(day);
    const tokens = await renewSecret(day, run);
    await findOut(day);
    await takeAway(day, tokens);
    await proveThatAllIsWell(day);
    await tidyUp(day);
  } finally {
    await rm(folder, { recursive: true });
  }
  transcript.line('');
  transcript.line('✓ Every step holds.', 32);
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
    return { proof: 'a client id, a secret that is shown once, and three addresses', value };
  });
  await transcript.step('Hand it over', async () => {
    await operator.run(
      ['client', 'handover', client.client_id, '--secret-delivery', 'in your password manager'],
      { shows: [client.client_id, 'in your password manager'], hides: [client.client_secret] },
    );
    return {
      proof: 'Markdown with the five things and requests to copy, without the secret',
      value: undefined,
    };
  });
  await transcript.step('Find it again', async () => {
    await operator.run(['client', 'search', name], { shows: [client.client_id] });
    return { proof: 'one application has this name', value: undefined };
  });
  return client;
}

async function invite(operator: CommandLine, transcript: Transcript): Promise<Person> {
  return transcript.step('Create a user, and look at them', async () => {
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

async function keepInGit({ operator, transcript, client, folder }: Day): Promise<void> {
  const file = join(folder, 'clients.yaml');
  await transcript.step('Keep the registration in git, and change it there', async () => {
    await operator.run(['client', 'export', client.client_id, '--output', 'clients.yaml']);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('name: Room Finder', 'name: Rooms'));
    await operator.run(['client', 'import', 'clients.yaml', '--dry-run'], { shows: ['+    name: Rooms'] });
    await operator.run(['client', 'import', 'clients.yaml'], { shows: ['updated 1'] });
    await operator.run(['client', 'import', 'clients.yaml'], { shows: ['updated 0'] });
    return {
      proof: 'a difference to review, one change, and nothing left the second time',
      value: undefined,
    };
  });
}

/** @returns tokens of the application, which now has the new secret */
async function renewSecret(day: Day, run: RunFile) {
  const { operator, transcript, client, user, company } = day;
  const tokens = await transcript.step('A user allows access', async () => {
    const value = await company.connect();
    await company.expectStatus(200, value);
    await operator.run(['grant', 'list', '--client', client.client_id], { shows: [user.username, 'live'] });
    return { proof: 'a live grant', value };
  });
  return transcript.step('Give the application a new secret, with no gap', async () => {
    const id = client.client_id;
    const out = await operator.run(['client', 'secret', 'rotate', id], {
      shows: ['The old one still works'],
    });
    const old = tokens;
    const refreshed = await company.refresh(old);
    const [secret = ''] = /scs_[\w-]{43}/.exec(out) ?? [];
    const [, oldId = ''] = /secret revoke \S+ ([\w-]{36})/.exec(out) ?? [];
    day.client = { ...client, client_secret: secret };
    day.company = new Company({ ...run, client: day.client, user });
    await operator.run(['client', 'secret', 'revoke', id, oldId], { shows: ['Still live'] });
    return {
      proof: 'the old one worked until it was revoked; tokens go on',
      value: await day.company.refresh(refreshed),
    };
  });
}

async function tidyUp({ operator, transcript, client, user }: Day): Promise<void> {
  await transcript.step('Remove the application and the user', async () => {
    await operator.run(['client', 'delete', client.client_id, '--yes'], { shows: ['Deleted'] });
    await operator.run(['user', 'delete', user.username, '--yes'], { shows: ['Deleted'] });
    return { proof: 'both are gone, and their data with them', value: undefined };
  });
}
