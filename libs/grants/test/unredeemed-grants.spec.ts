import { jest } from '@jest/globals';
import { AuthorizationContextStore } from '#clients/authorization-context.store.js';
import { ConnectedAppStore } from '#grants/records/connected-app.store.js';
import { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { UnredeemedGrantStore } from '#grants/records/unredeemed-grant.store.js';
import { GrantStore } from '#grants/grant.store.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { UnredeemedGrantsService } from '#grants/unredeemed-grants.service.js';
import { granted, useGrantEnvironment } from './use-grant-environment.js';

const environment = useGrantEnvironment({ scope: 'openid' });
let service: UnredeemedGrantsService;

beforeAll(() => {
  const { fixture, store, now } = environment;
  const unredeemed = fixture.store(UnredeemedGrantStore);
  service = new UnredeemedGrantsService(unredeemed, fixture.records, store, DEFAULT_LIFETIMES, now);
});
beforeEach(() => environment.fixture.sql('DELETE FROM grants'));

/** Makes every grant old enough for its code to have expired. */
const age = () =>
  environment.fixture.sql("UPDATE grants SET created_at = created_at - interval '10 minutes'");
const lost = (id: string) => environment.fixture.redis.del(`grant:${id}`);
const isLive = async (id: string) =>
  (await environment.fixture.sql('SELECT FROM grants WHERE id = $1 AND expires_at > now()', [id])).length ===
  1;

async function requested(): Promise<{ deviceCode: string; grantId: string }> {
  const { code: deviceCode, grantId } = environment.issuer.deviceCode(environment.now());
  await environment.engine.request(grantId, environment.clientId, null);
  return { deviceCode, grantId };
}

async function recorded(id: string): Promise<void> {
  const { userId, clientId, fixture } = environment;
  const grant = { id, userId, clientId, scope: 'openid', requestedScope: 'openid', resources: null };
  await fixture.records.create({ ...grant, expiresAt: new Date(Date.now() + 1e9) });
}

async function approved(): Promise<{ deviceCode: string; grantId: string }> {
  const device = await requested();
  await recorded(device.grantId);
  const { userId, clientId } = environment;
  const grant = { clientId, userId, externalId: null, scope: 'openid', resources: null };
  expect(await environment.engine.approve(device.grantId, grant)).toBe(true);
  return device;
}

describe('a grant whose code expired without a redemption', () => {
  it('does not count as access or consent, and receives no logout tokens', async () => {
    const { fixture, userId, clientId } = environment;
    await fixture.sql("UPDATE clients SET backchannel_logout_uri = 'https://app.example.com/logout'");
    const { grantId } = await environment.pending();
    await fixture.sql("UPDATE grants SET session = 'session'");
    const views = async () => ({
      apps: (await fixture.store(ConnectedAppStore).list(userId)).length,
      app: await fixture.store(ConnectedAppStore).find(userId, clientId),
      listed: (await fixture.store(GrantAdministrationStore).list({ ended: false }, { limit: 9 })).items
        .length,
      counted: await fixture.store(GrantAdministrationStore).countLive({}),
      ofUser: (await fixture.accounts.details(userId))?.liveGrants,
      decisions: (await fixture.store(AuthorizationContextStore).find(clientId, userId)).decisions.length,
      continued: await continuesConsent(),
      loggedOut:
        (await recordedLogouts("record_logouts('session', NULL)")) +
        (await recordedLogouts(`record_logouts(NULL, ${userId})`)),
    });
    const ones = { apps: 1, listed: 1, counted: 1, ofUser: 1, decisions: 1, continued: true, loggedOut: 2 };
    expect(await views()).toMatchObject(ones);
    await age();
    await lost(grantId);
    await service.settle();
    expect(await views()).toEqual({
      apps: 0,
      app: null,
      listed: 0,
      counted: 0,
      ofUser: 0,
      decisions: 0,
      continued: false,
      loggedOut: 0,
    });
  });

  async function recordedLogouts(record: string): Promise<number> {
    await environment.fixture.sql('DELETE FROM events');
    await environment.fixture.sql(`SELECT ${record}`);
    return (await environment.fixture.sql("SELECT FROM events WHERE type = 'logout'")).length;
  }

  async function continuesConsent(): Promise<boolean> {
    const { userId, clientId, fixture, issuer } = environment;
    const { grantId: id } = issuer.code(environment.now());
    const grant = { id, userId, clientId, scope: 'openid', requestedScope: 'openid', resources: null };
    const expiresAt = new Date(Date.now() + 1e9);
    const created = await fixture.records.create({ ...grant, expiresAt, continuesConsent: true });
    await fixture.records.withdraw(id);
    return created !== null;
  }

  it('still counts in the limit of grants of a day', async () => {
    const { fixture, userId, clientId } = environment;
    const { grantId } = await environment.pending();
    await age();
    await lost(grantId);
    await service.settle();
    await environment.pending();
    expect((await fixture.store(AuthorizationContextStore).find(clientId, userId)).grantsOfDay).toBe(2);
  });

  it('is not restored for a token, because a user could not see and revoke it', async () => {
    const { pair, grantId } = await environment.active();
    await age();
    await lost(grantId);
    await service.settle();
    expect((await environment.engine.introspect(pair.accessToken, null)).outcome).toBe('unknown');
  });

  it('is live again once its use is recorded', async () => {
    const { pair, grantId } = await environment.active();
    await age();
    await lost(grantId);
    await service.settle();
    await environment.fixture.records.touch([{ id: grantId, day: '2031-01-11' }]);
    expect(await isLive(grantId)).toBe(true);
    expect((await environment.engine.introspect(pair.accessToken, null)).outcome).toBe('active');
  });

  it('ends if its code was voided by a log-out', async () => {
    const { grantId } = await environment.pending();
    await environment.engine.voidCode(grantId, environment.clientId);
    await age();
    await service.settle();
    expect(await isLive(grantId)).toBe(false);
  });

  it('ends if its device never fetched its tokens', async () => {
    const { grantId } = await approved();
    await age();
    await lost(grantId);
    await service.settle();
    expect(await isLive(grantId)).toBe(false);
  });
});

describe('a recorded grant stays live', () => {
  it('if its code was redeemed and the record of its use was lost', async () => {
    const { grantId } = await environment.active();
    await age();
    await service.settle();
    const used = 'SELECT FROM grants WHERE id = $1 AND last_used_on IS NOT NULL';
    expect(await environment.fixture.sql(used, [grantId])).toHaveLength(1);
    await lost(grantId);
    await service.settle();
    expect(await isLive(grantId)).toBe(true);
  });

  it('while its code can be redeemed', async () => {
    const { grantId } = await environment.pending();
    await age();
    await service.settle();
    expect(await isLive(grantId)).toBe(true);
  });

  it('until another process must have recorded the redemption', async () => {
    const { grantId } = await environment.pending();
    await lost(grantId);
    await service.settle();
    expect(await isLive(grantId)).toBe(true);
  });

  it('while its device can fetch its tokens, and afterwards', async () => {
    const { deviceCode, grantId } = await approved();
    await age();
    await service.settle();
    expect(await isLive(grantId)).toBe(true);
    const { clientId } = environment;
    granted(await environment.engine.poll(deviceCode, { clientId, jkt: null, resources: null }));
    await service.settle();
    expect(await isLive(grantId)).toBe(true);
  });

  it('while the approval of its device is being stored', async () => {
    const { grantId } = await requested();
    await recorded(grantId);
    await age();
    await service.settle();
    expect(await isLive(grantId)).toBe(true);
  });

  it('while a token restores it', async () => {
    const { grantId } = await environment.active();
    await age();
    await lost(grantId);
    await environment.store.markMissing(grantId);
    await service.settle();
    expect(await isLive(grantId)).toBe(true);
  });

  it('if Redis does not answer', async () => {
    const { grantId } = await environment.pending();
    await age();
    await lost(grantId);
    const outage = jest.spyOn(GrantStore.prototype, 'redemption').mockRejectedValue(new Error('no answer'));
    await expect(service.settle()).rejects.toThrow('no answer');
    outage.mockRestore();
    expect(await isLive(grantId)).toBe(true);
  });
});

it('settles more grants than a page', async () => {
  const { fixture, userId, clientId } = environment;
  await fixture.sql(
    `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, created_at, lifetime, expires_at)
     SELECT encode(sha256(n::text::bytea), 'hex')::char(43), $1, $2, '', '', now() - interval '1 hour', interval '1 day', now() + interval '1 day'
     FROM generate_series(1, 1200) n`,
    [userId, clientId],
  );
  await service.settle();
  expect(await fixture.store(GrantAdministrationStore).countLive({})).toBe(0);
});
