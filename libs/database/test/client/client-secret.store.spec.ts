import { generateClientSecret, matchClientSecret } from '#oauth/client.js';
import { ClientSecretStore, type SecretOutcome } from '#database/client/client-secret.store.js';
import { ClientStore } from '#database/client/client.store.js';
import { openDatabase, type OpenDatabase } from '../connection/open-database.js';

const redirectUris = ['https://app.example/callback'];
const newHash = () => generateClientSecret().hash;
const outcomes = (results: readonly SecretOutcome[]) => results.map(({ outcome }) => outcome).toSorted();
const idsOf = (result: SecretOutcome) => ('live' in result ? result.live.map(({ id }) => id) : []);

describe('ClientSecretStore', () => {
  let database: OpenDatabase;
  let clients: ClientStore;
  let secrets: ClientSecretStore;

  beforeAll(async () => {
    database = await openDatabase();
    clients = new ClientStore(database.dataSource);
    secrets = new ClientSecretStore(database.dataSource);
  });
  afterAll(() => database.close());

  const confidential = async (hash = newHash()) =>
    (
      await clients.create({
        name: 'Calendar',
        type: 'confidential',
        scopes: ['profile:read'],
        redirectUris,
        secretHash: hash,
      })
    ).clientId;
  const usedOn = async (clientId: string) => {
    const listed = await secrets.list(clientId);
    return 'live' in listed ? listed.live.map(({ lastUsedOn }) => lastUsedOn) : [];
  };

  it('adds a second secret, and rejects a third', async () => {
    const clientId = await confidential();
    const [first] = idsOf(await secrets.list(clientId));
    const added = await secrets.add(clientId, newHash());
    expect(added).toMatchObject({ outcome: 'done', live: [{ id: first }, { lastUsedOn: null }] });
    expect(await secrets.add(clientId, newHash())).toEqual({
      ...(await secrets.list(clientId)),
      outcome: 'two_live',
    });
    expect((await clients.find(clientId))?.secrets).toHaveLength(2);
  });

  it('never has three live secrets after concurrent calls', async () => {
    const clientId = await confidential();
    const results = await Promise.all(Array.from({ length: 8 }, () => secrets.add(clientId, newHash())));
    expect(outcomes(results)).toEqual(['done', ...Array.from({ length: 7 }, () => 'two_live')]);
    expect((await clients.find(clientId))?.secrets).toHaveLength(2);
  });

  it('revokes one of two secrets, and the last one only when forced', async () => {
    const clientId = await confidential();
    const [first = ''] = idsOf(await secrets.list(clientId));
    const [, second = ''] = idsOf(await secrets.add(clientId, newHash()));
    expect(await secrets.revoke(clientId, first)).toMatchObject({ outcome: 'done', live: [{ id: second }] });
    expect(await secrets.revoke(clientId, second)).toEqual({ outcome: 'last_live' });
    expect((await clients.find(clientId))?.secrets.map(({ id }) => id)).toEqual([second]);
    expect(await secrets.revoke(clientId, second, true)).toEqual({ outcome: 'done', live: [] });
    expect((await clients.find(clientId))?.secrets).toEqual([]);
  });

  it('keeps one secret live if both are revoked concurrently', async () => {
    const clientId = await confidential();
    const ids = idsOf(await secrets.add(clientId, newHash()));
    const results = await Promise.all(ids.map((id) => secrets.revoke(clientId, id)));
    expect(outcomes(results)).toEqual(['done', 'last_live']);
    expect((await clients.find(clientId))?.secrets).toHaveLength(1);
  });

  it('finds only live secrets of the named client', async () => {
    const [clientId, other] = [await confidential(), await confidential()];
    const [own = ''] = idsOf(await secrets.list(clientId));
    expect(await secrets.revoke(other, own)).toMatchObject({ outcome: 'unknown_secret' });
    expect(await secrets.revoke(clientId, 'no uuid')).toMatchObject({ outcome: 'unknown_secret' });
    await secrets.add(clientId, newHash());
    await secrets.revoke(clientId, own);
    expect(await secrets.revoke(clientId, own)).toMatchObject({ outcome: 'unknown_secret' });
  });

  it('rejects unknown clients and public clients', async () => {
    const { clientId } = await clients.create({
      name: 'Phone',
      type: 'public',
      scopes: ['profile:read'],
      redirectUris,
    });
    for (const work of [
      (id: string) => secrets.list(id),
      (id: string) => secrets.add(id, newHash()),
      (id: string) => secrets.revoke(id, 'x', true),
    ]) {
      expect(await work(clientId)).toEqual({ outcome: 'public_client' });
      expect(await work('sc_unknown')).toEqual({ outcome: 'unknown_client' });
    }
    expect((await clients.find(clientId))?.secrets).toEqual([]);
  });

  it('records the last use of many secrets with one statement, and never moves it backward', async () => {
    const clientId = await confidential();
    const [one = '', two = ''] = idsOf(await secrets.add(clientId, newHash()));
    const uses = [
      { id: one, day: '2030-01-01' },
      { id: one, day: '2030-01-03' },
      { id: two, day: '2030-01-02' },
    ];
    expect(await database.statementsOf(() => secrets.touch(uses))).toHaveLength(1);
    await secrets.touch([{ id: one, day: '2030-01-02' }]);
    expect(await usedOn(clientId)).toEqual(['2030-01-03', '2030-01-02']);
    expect(await database.statementsOf(() => secrets.touch([]))).toEqual([]);
  });

  it('returns which of the secrets was presented', () => {
    const [one, two, unknown] = [generateClientSecret(), generateClientSecret(), generateClientSecret()];
    const known = [
      { id: 'one', hash: one.hash },
      { id: 'two', hash: two.hash },
    ];
    expect(matchClientSecret(one.secret, known)).toBe('one');
    expect(matchClientSecret(two.secret, known)).toBe('two');
    expect(matchClientSecret(unknown.secret, known)).toBeNull();
    expect(matchClientSecret('', [])).toBeNull();
  });
});
