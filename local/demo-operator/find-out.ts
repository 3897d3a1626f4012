import { expectEqual } from '../demo/step-failure.js';
import type { Day } from './day-state.js';

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
