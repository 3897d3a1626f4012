import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expectEqual } from '../demo/step-failure.js';
import type { Day } from './day-state.js';

/** Who did what, which keys sign, and whether the installation is sound. */
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
