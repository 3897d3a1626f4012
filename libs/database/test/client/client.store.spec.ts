import { ClientStore } from '#database/client/client.store.js';
import { generateClientId, generateClientSecret } from '#oauth/client.js';
import { DuplicateClientError, type EnabledClient } from '#database/client/client.js';
import { openDatabase, type OpenDatabase } from '../connection/open-database.js';

const REDIRECT_URIS = ['https://app.example/callback', 'http://localhost:3000/callback?via=oauth'];

describe('ClientStore', () => {
  let database: OpenDatabase;
  let clients: ClientStore;

  beforeAll(async () => {
    database = await openDatabase();
    clients = new ClientStore(database.dataSource);
  });
  afterAll(() => database.close());

  const confidential = (hash = generateClientSecret().hash) =>
    clients.create({
      name: 'Calendar',
      type: 'confidential',
      scopes: ['profile:read'],
      redirectUris: REDIRECT_URIS,
      secretHash: hash,
    });
  const count = async (table: string) =>
    (await database.dataSource.query<{ n: number }[]>(`SELECT count(*)::int AS n FROM ${table}`))[0]?.n;

  it('finds a client as it was registered', async () => {
    const { hash } = generateClientSecret();
    const created = await confidential(hash);
    expect(created).toMatchObject({ name: 'Calendar', type: 'confidential', redirectUris: REDIRECT_URIS });
    expect(created.secrets.map((secret) => secret.hash)).toEqual([hash]);
    expect(await clients.find(created.clientId)).toEqual(created);
  });

  it('returns whether a client must push its authorization requests', async () => {
    const plain = await clients.create({
      name: 'Plain',
      type: 'public',
      scopes: ['profile:read'],
      redirectUris: REDIRECT_URIS,
    });
    const strict = await clients.create({
      name: 'Strict',
      type: 'public',
      scopes: ['profile:read'],
      redirectUris: REDIRECT_URIS,
      requirePar: true,
      requireState: false,
    });
    expect(await clients.find(plain.clientId)).toMatchObject({ requirePar: false, requireState: true });
    expect(await clients.find(strict.clientId)).toMatchObject({ requirePar: true, requireState: false });
  });

  it('finds a client and its secrets with one query', async () => {
    const { clientId } = await confidential();
    expect(await database.statementsOf(() => clients.find(clientId))).toHaveLength(1);
  });

  it('excludes revoked secrets', async () => {
    const { clientId, secrets } = await confidential();
    const second = generateClientSecret().hash;
    const { dataSource } = database;
    await dataSource.query('INSERT INTO client_secrets (client_id, hash) VALUES ($1, $2)', [
      clientId,
      second,
    ]);
    await dataSource.query('UPDATE client_secrets SET revoked_at = now() WHERE id = $1', [secrets[0]?.id]);
    expect((await clients.find(clientId))?.secrets.map(({ hash }) => hash)).toEqual([second]);
  });

  // @rfc 8252 8.4
  it('finds a public client, which has no secret', async () => {
    const created = await clients.create({
      name: 'Phone',
      type: 'public',
      scopes: ['profile:read'],
      redirectUris: ['com.example.app:/cb'],
    });
    expect(await clients.find(created.clientId)).toMatchObject({ type: 'public', secrets: [] });
    await expect(
      clients.create({
        name: 'P',
        type: 'public',
        scopes: ['profile:read'],
        redirectUris: REDIRECT_URIS,
        secretHash: Buffer.alloc(32),
      }),
    ).rejects.toThrow('a public client has no secret');
  });

  it('writes nothing if the secret cannot be written', async () => {
    const before = await count('clients');
    await expect(confidential(Buffer.from('too short'))).rejects.toThrow('client_secrets_hash_check');
    expect(await count('clients')).toBe(before);
  });

  // @rfc 6749 2.2
  it('rejects an identifier that is taken', async () => {
    const { clientId } = await confidential();
    const again = clients.create({
      name: 'B',
      type: 'confidential',
      scopes: ['profile:read'],
      redirectUris: REDIRECT_URIS,
      clientId,
    });
    await expect(again).rejects.toThrow(DuplicateClientError);
    await expect(again).rejects.toThrow(clientId);
    expect(await clients.find(clientId)).toMatchObject({ name: 'Calendar' });
  });

  it.each(['sc_unknown', '', 'a\0b', 'with space', 'ünknown', 'x'.repeat(256), "' OR 1=1 --"])(
    'finds no client %j',
    async (clientId) => {
      expect(await clients.find(clientId)).toBeNull();
    },
  );

  it('lists each enabled client once with its live secrets, in pages', async () => {
    const [first, disabled] = [await confidential(), await confidential()];
    const sql = (text: string, ...values: string[]) => database.dataSource.query<unknown[]>(text, values);
    await sql('UPDATE clients SET disabled_at = now() WHERE client_id = $1', disabled.clientId);
    await sql(
      `INSERT INTO client_secrets (client_id, hash, revoked_at) VALUES ($1, sha256('old'), now())`,
      first.clientId,
    );
    await sql(
      `INSERT INTO clients (client_id, name, type, redirect_uris) SELECT 'sc_many' || n, 'Many', 'public', '{https://a.example}' FROM generate_series(1, 5001) n`,
    );
    const found: EnabledClient[] = [];
    for (let page = await clients.enabled(''); page.length > 0;) {
      found.push(...page);
      page = await clients.enabled(page.at(-1)?.clientId ?? '');
    }
    const ids = found.map(({ clientId }) => clientId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => id.startsWith('sc_many'))).toHaveLength(5001);
    expect(ids).not.toContain(disabled.clientId);
    const [live] = first.secrets;
    expect(found.find(({ clientId }) => clientId === first.clientId)).toMatchObject({
      redirectUris: first.redirectUris,
      secrets: [{ id: live?.id, createdAt: expect.any(Date) as Date, lastUsedOn: null }],
    });
    await sql(`DELETE FROM clients WHERE client_id LIKE 'sc_many%'`);
  });

  // @rfc 9700 2.6
  it('creates identifiers of sc_ and 120 random bits', () => {
    expect(generateClientId()).toMatch(/^sc_[a-z2-7]{24}$/);
    expect(new Set(Array.from({ length: 1_000 }, () => generateClientId())).size).toBe(1_000);
    expect(generateClientId((size) => Buffer.alloc(size, 0xff))).toBe(`sc_${'7'.repeat(24)}`);
  });
});
