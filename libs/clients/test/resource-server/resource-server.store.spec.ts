import { generateClientSecret, matchClientSecret } from '#oauth/oauth-client.js';
import { ResourceServerStore } from '#clients/resource-server/resource-server.store.js';
import { openDatabase, type OpenDatabase } from '../../../database/test/support/open-database.js';

describe('ResourceServerStore', () => {
  let database: OpenDatabase;
  let servers: ResourceServerStore;

  beforeAll(async () => {
    database = await openDatabase();
    servers = new ResourceServerStore(database.dataSource);
  });
  afterAll(() => database.close());

  it('finds an account as it was created, with only the hash of its secret', async () => {
    const { secret, hash } = generateClientSecret();
    const { id } = await servers.create('Bookings API', hash);
    expect(id).toMatch(/^rs_[a-z2-7]{24}$/);
    const found = await servers.findWithHash(id);
    expect(found).toEqual({
      id,
      name: 'Bookings API',
      version: 1,
      secrets: [{ id, hash }],
      jwks: null,
      jwksUri: null,
      createdAt: expect.any(Date),
    });
    expect(matchClientSecret(secret, found!.secrets)).toBe(id);
    expect(Object.keys((await servers.find(id)) ?? {})).not.toContain('secrets');
  });

  it('returns null for unknown, malformed and client identifiers', async () => {
    for (const id of ['rs_aaaaaaaaaaaaaaaaaaaaaaaa', 'sc_aaaaaaaaaaaaaaaaaaaaaaaa', '', '\0', 'rs_\0']) {
      expect(await servers.find(id)).toBeNull();
    }
  });

  it('revokes an account once', async () => {
    const { id } = await servers.create('Old API', generateClientSecret().hash);
    const kept = await servers.create('New API', generateClientSecret().hash);
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => servers.revoke(id)));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect(await servers.find(id)).toBeNull();
    const ids = (await servers.list()).map((server) => server.id);
    expect(ids).toContain(kept.id);
    expect(ids).not.toContain(id);
    expect(await servers.revoke('rs_aaaaaaaaaaaaaaaaaaaaaaaa')).toBe(false);
    expect(await servers.revoke('\0')).toBe(false);
  });
});
