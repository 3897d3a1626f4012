import { expectEqual } from '../demo/transcript.js';
import type { Day } from './day-state.js';
import type { Tokens } from '../demo/application.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An application reports an error: its reference leads to the exact cause. */
export async function findOut({ operator, transcript, client, company }: Day): Promise<void> {
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

/** Disables an application, revokes a grant and disables a user; each ends access immediately. */
export async function takeAway(
  { operator, transcript, client, user, company }: Day,
  tokens: Tokens,
): Promise<void> {
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

/** Reads the audit trail, lists the keys and runs the doctor. */
export async function proveThatAllIsWell({ operator, transcript, client, user, folder }: Day): Promise<void> {
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
