import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunFile } from '../demo/run-script.js';
import type { Transcript } from '../demo/transcript.js';
import { CommandLine } from './command-line.js';
import { Company, type Day, type Person, type Registered } from './day-state.js';
import { findOut, proveThatAllIsWell, takeAway } from './steps.js';

const REDIRECT_URI = 'https://rooms.example.com/callback';

/**
 * Runs an operator's typical commands against the running product: registers an application, hands it over, explains an error,
 * withdraws access and runs the checks. Deletes the application and the user at the end.
 *
 * @throws StepFailure that names the first failed step
 */
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

/** @returns tokens of the application, which has the new secret from then on */
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
