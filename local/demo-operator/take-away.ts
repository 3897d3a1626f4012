import type { Tokens } from '../demo/application.js';
import type { Day } from './day-state.js';

/** Takes away an application, a grant and a user, each of which ends access at once. */
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
