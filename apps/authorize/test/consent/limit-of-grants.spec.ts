import { auditEvents } from '#test/support/audit-trail.js';
import { MAX_LIVE_GRANTS } from '#database/grant/grant-record.statements.js';
import { stateOf } from '../support/connected-apps.js';
import { AUTHORIZE, expectCode, useRequests } from '../support/use-requests.js';

const { app, now, address, consented } = useRequests();

async function fill(count: number): Promise<void> {
  const { client, user } = now;
  await app.sql(
    `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, lifetime, expires_at)
     SELECT rtrim(translate(encode(sha256(gen_random_uuid()::text::bytea), 'base64'), '+/', '-_'), '='), $1, $2,
            'profile:read', 'profile:read', interval '90 days', now() + interval '90 days'
     FROM generate_series(1, $3::integer)`,
    [user.id, client.clientId, count],
  );
}

async function grantIds(): Promise<string[]> {
  const rows = await app.sql<{ id: string }>(
    'SELECT id FROM grants WHERE client_id = $1 ORDER BY created_at',
    [now.client.clientId],
  );
  return rows.map(({ id }) => id);
}

it('Allow above the limit of live grants revokes the oldest grant in PostgreSQL and Redis, and records the event', async () => {
  const browser = await consented();
  const [oldest = ''] = await grantIds();
  await fill(MAX_LIVE_GRANTS - 2);
  const allow = async () => {
    const page = await browser.get(address({ prompt: 'consent' }));
    expectCode(await browser.submit(page, { decision: 'allow' }, AUTHORIZE));
  };
  await allow();
  expect(await stateOf(app, oldest)).toEqual([false, 'pending']);
  await allow();
  expect(await stateOf(app, oldest)).toEqual([true, 'revoked']);
  const newest = (await grantIds()).at(-1) ?? '';
  expect(await stateOf(app, newest)).toEqual([false, 'pending']);
  const [revoked] = await auditEvents(app.services.natsUrl, { grantId: oldest, types: ['grant.revoked'] }, 1);
  expect(revoked).toMatchObject({
    user_id: now.user.id,
    client_id: now.client.clientId,
    detail: { outcome: 'above the limit', limit: MAX_LIVE_GRANTS, replaced_by: newest },
  });
});
