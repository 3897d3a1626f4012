import type { GrantRecordStore } from '#grants/records/grant-record.store.js';
import type { GrantEngine } from '#grants/grant-engine.js';
import type { RevocationService } from '#grants/revocation.service.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { openFixture, type Fixture, type TestClient } from '#test/support/fixture.js';
import { grantEngine } from '#test/support/grant-engine.js';
import { type Isolated, isolate } from '#test/support/isolate.js';

const KEYS = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const redirectUri = 'https://app.example.com/callback?tenant=7';

let services: Isolated;
let fixture: Fixture;
let client: TestClient;
let userId: number;
/** Called after PostgreSQL has returned the grant and before the engine uses it. */
let afterFind: (id: string) => Promise<unknown>;
let engine: GrantEngine;
let revocations: RevocationService;

beforeAll(async () => {
  services = await isolate();
  fixture = await openFixture(services, KEYS);
  [client, userId] = [await fixture.client(), await fixture.user()];
  const records: GrantRecordStore = Object.create(fixture.records, {
    find: {
      value: async (id: string) => {
        const found = await fixture.records.find(id);
        await afterFind(id);
        return found;
      },
    },
  });
  ({ engine, revocations } = grantEngine({ redis: fixture.redis, records, tokenKeys: KEYS }));
});

afterAll(async () => {
  await fixture.close();
  await services.close();
});

const refresh = (token: string) =>
  engine.refresh(token, { clientId: client.client_id, jkt: null, scope: null, resources: null });

async function pair() {
  const code = await fixture.code(client.client_id, userId);
  const exchange = { clientId: client.client_id, redirectUri, challenge: null, jkt: null, resources: null };
  const granted = await engine.redeem(code, exchange);
  if (granted.outcome !== 'granted') throw new Error(granted.outcome);
  await fixture.redis.flushdb();
  return granted.pair;
}

describe('the restore of a lost grant', () => {
  it('does not undo a concurrent revocation', async () => {
    const { refreshToken } = await pair();
    afterFind = (id) => revocations.revoke(id);
    expect((await refresh(refreshToken)).outcome).toBe('revoked');
  });

  // @reliability redis-empty
  it('does not undo a concurrent revocation, even if Redis loses the revocation', async () => {
    const { refreshToken, accessToken } = await pair();
    afterFind = async (id) => {
      afterFind = () => Promise.resolve();
      await revocations.revoke(id);
      await fixture.redis.flushdb();
    };
    expect((await refresh(refreshToken)).outcome).toBe('revoked');
    expect((await engine.introspect(accessToken, null)).outcome).toBe('revoked');
  });

  it('is repeated if Redis loses the grant again', async () => {
    const { refreshToken } = await pair();
    afterFind = async () => {
      afterFind = () => Promise.resolve();
      await fixture.redis.flushdb();
    };
    expect((await refresh(refreshToken)).outcome).toBe('granted');
  });

  it('fails with a retryable error while Redis loses grants faster than the engine restores them', async () => {
    const { refreshToken } = await pair();
    afterFind = () => fixture.redis.flushdb();
    await expect(refresh(refreshToken)).rejects.toBeInstanceOf(DependencyUnavailableError);
    afterFind = () => Promise.resolve();
    expect((await refresh(refreshToken)).outcome).toBe('granted');
  });

  it('returns the same successor to concurrent requests', async () => {
    const { refreshToken } = await pair();
    afterFind = () => Promise.resolve();
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(refreshToken)));
    const successors = answers.map((answer) =>
      answer.outcome === 'granted' ? answer.pair.refreshToken : answer.outcome,
    );
    expect(new Set(successors).size).toBe(1);
    expect(successors[0]).toMatch(/^srt_/);
  });
});
