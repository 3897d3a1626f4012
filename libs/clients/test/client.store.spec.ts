import { ClientStore } from '#clients/client.store.js';
import { generateClientId, generateClientSecret } from '#oauth/oauth-client.js';
import { DuplicateClientError, type EnabledClient, type ClientLogo } from '#clients/client.js';
import { blocked } from '#test/support/until.js';
import { openDatabase, type OpenDatabase, refusalOf } from '../../database/test/support/open-database.js';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { ClientLogoStore } from '#clients/client-logo.store.js';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { people } from '../../users/test/people.js';
import { skeletonOf } from '#clients/name-skeleton.js';
import { ClientTransferStore } from '#clients/client-transfer.store.js';
import { useGrants } from '../../grants/test/records/use-grants.js';

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
    expect(await clients.find(created.clientId)).toEqual(created);
    const secrets = created.secrets.map(({ id }) => ({ id, hash, expiresAt: null }));
    expect(secrets).toHaveLength(1);
    expect(await clients.findWithHashes(created.clientId)).toEqual({ ...created, secrets });
  });

  it('returns whether pushed requests and the state are required', async () => {
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
    expect((await clients.findWithHashes(clientId))?.secrets.map(({ hash }) => hash)).toEqual([second]);
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
  it('rejects an identifier of another client', async () => {
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

  it('compares a name with all others by an index', async () => {
    const sql = (text: string, values: unknown[] = []) => database.dataSource.query<unknown[]>(text, values);
    await sql('ALTER TABLE clients DISABLE TRIGGER clients_record_history');
    await sql(
      `INSERT INTO clients (client_id, name, name_skeleton, type, redirect_uris)
       SELECT 'sc_named' || n, 'Named ' || n, 'named' || n, 'public', '{https://a.example}' FROM generate_series(1, 3000) n`,
    );
    await sql('ALTER TABLE clients ENABLE TRIGGER clients_record_history');
    await sql('ANALYZE clients');
    const [statement = '', ...more] = await database.statementsOf(async () => {
      expect(await clients.othersLike('sc_none', 'NAMED 77')).toEqual([
        { clientId: 'sc_named77', name: 'Named 77' },
      ]);
    });
    expect(more).toEqual([]);
    const plan = JSON.stringify(await sql(`EXPLAIN ${statement}`, ['sc_none', 'named77']));
    expect(plan.split('clients_look_alike')).toHaveLength(3);
    expect(plan).not.toContain('Seq Scan');
    await sql(`DELETE FROM clients WHERE client_id LIKE 'sc_named%'`);
  });

  it('stores what a name looks like with each name', async () => {
    const { clientId } = await confidential();
    const like = async (name: string) =>
      (await clients.othersLike('sc_none', name)).map((client) => client.clientId);
    const stored = () =>
      database.dataSource.query<unknown[]>('SELECT name_skeleton FROM clients WHERE client_id = $1', [
        clientId,
      ]);
    expect(await stored()).toEqual([{ name_skeleton: 'calendar' }]);
    await new ClientRegistrationStore(database.dataSource).update(clientId, (current) => ({
      ...current,
      name: 'Dіnner',
    }));
    expect(await stored()).toEqual([{ name_skeleton: skeletonOf('Dinner') }]);
    expect(await like('DINNER')).toEqual([clientId]);
    const transfers = new ClientTransferStore(database.dataSource);
    await transfers.change({ clientIds: [clientId], secretIds: [] }, ({ clients: known }) =>
      [...known.values()].map((client) => ({ ...client, name: 'Supper' })),
    );
    expect(await stored()).toEqual([{ name_skeleton: 'supper' }]);
  });

  it('lists each enabled client once with its live secrets, in pages', async () => {
    const [first, disabled] = [await confidential(), await confidential()];
    const sql = (text: string, ...values: string[]) => database.dataSource.query<unknown[]>(text, values);
    await sql('UPDATE clients SET disabled_at = now() WHERE client_id = $1', disabled.clientId);
    await sql(
      `INSERT INTO client_secrets (client_id, hash, revoked_at) VALUES ($1, sha256('old'), now())`,
      first.clientId,
    );
    // The trigger takes 0.7 ms of CPU time for each row.
    await sql('ALTER TABLE clients DISABLE TRIGGER clients_record_history');
    await sql(
      `INSERT INTO clients (client_id, name, type, redirect_uris) SELECT 'sc_many' || n, 'Many', 'public', '{https://a.example}' FROM generate_series(1, 5001) n`,
    );
    await sql('ALTER TABLE clients ENABLE TRIGGER clients_record_history');
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
      secrets: [{ id: live?.id, createdAt: expect.any(Date) as Date, lastUsedAt: null, expiresAt: null }],
    });
    await sql(`DELETE FROM clients WHERE client_id LIKE 'sc_many%'`);
  });

  // @rfc 9700 2.6
  it('creates identifiers from sc_ and 120 random bits', () => {
    expect(generateClientId()).toMatch(/^sc_[a-z2-7]{24}$/);
    expect(new Set(Array.from({ length: 1_000 }, () => generateClientId())).size).toBe(1_000);
    expect(generateClientId((size) => Buffer.alloc(size, 0xff))).toBe(`sc_${'7'.repeat(24)}`);
  });
});

const logo = (bytes = 64): ClientLogo => ({ mediaType: 'image/png', image: randomBytes(bytes) });

describe('ClientLogoStore', () => {
  let database: OpenDatabase;
  let logos: ClientLogoStore;
  let clients: ClientStore;
  let fixture: ReturnType<typeof people>;

  beforeAll(async () => {
    database = await openDatabase();
    logos = new ClientLogoStore(database.dataSource);
    clients = new ClientStore(database.dataSource);
    fixture = people(database.dataSource);
  });
  afterAll(() => database.close());

  const find = async (digest: string | null) => (await logos.find([digest ?? ''])).get(digest ?? '');

  it('finds a logo by the SHA-256 of its image, as stored in the client', async () => {
    const clientId = await fixture.client();
    const image = logo();
    const digest = await logos.set(clientId, image);
    expect(digest).toBe(createHash('sha256').update(image.image).digest('hex'));
    expect((await clients.find(clientId))?.logo).toBe(digest);
    expect(await find(digest)).toEqual(image);
  });

  it('does not find a logo that was replaced or removed', async () => {
    const clientId = await fixture.client();
    const first = await logos.set(clientId, logo());
    const second = await logos.set(clientId, { ...logo(), mediaType: 'image/webp' });
    expect(await find(first)).toBeUndefined();
    expect(await find(second)).toMatchObject({ mediaType: 'image/webp' });
    expect(await logos.remove(clientId)).toBe(true);
    expect(await find(second)).toBeUndefined();
    expect((await clients.find(clientId))?.logo).toBeNull();
    expect(await logos.remove(clientId)).toBe(false);
  });

  it('keeps a shared image while another client uses it', async () => {
    const [one, two] = [await fixture.client(), await fixture.client()];
    const image = logo();
    const digest = await logos.set(one, image);
    expect(await logos.set(two, image)).toBe(digest);
    await logos.remove(one);
    expect(await find(digest)).toEqual(image);
  });

  it('finds several logos by digest, and skips unknown digests', async () => {
    const [one, other, shared] = [logo(), logo(), logo()];
    const digests: string[] = [];
    for (const image of [one, other, shared, shared])
      digests.push((await logos.set(await fixture.client(), image)) ?? '');
    const found = await logos.find([...digests, '0'.repeat(64), 'x', '']);
    expect(found.size).toBe(3);
    expect(digests.map((digest) => found.get(digest))).toEqual([one, other, shared, shared]);
  });

  it('rejects a logo of an unknown or deleted client, and deletes the logo with the client', async () => {
    const clientId = await fixture.client();
    const digest = await logos.set(clientId, logo());
    await new ClientRegistrationStore(database.dataSource).delete(clientId);
    expect(await find(digest)).toBeUndefined();
    await expect(logos.set(clientId, logo())).rejects.toThrow('client_unknown');
    await expect(logos.set('sc_unknown', logo())).rejects.toThrow('client_unknown');
  });

  it.each(['', 'x', 'A'.repeat(64), '0'.repeat(63), `${'0'.repeat(63)}\0`, '0'.repeat(64)])(
    'finds no logo for the digest %j',
    async (digest) => {
      expect(await find(digest)).toBeUndefined();
    },
  );

  it('rejects an image that is empty, above 128 KiB or stored with another digest', async () => {
    const clientId = await fixture.client();
    expect(await logos.set(clientId, logo(131_072))).toEqual(expect.any(String));
    await expect(logos.set(clientId, logo(131_073))).rejects.toThrow('client_logos_image_check');
    await expect(logos.set(clientId, logo(0))).rejects.toThrow('client_logos_image_check');
    const forged = `UPDATE client_logos SET image = 'x' WHERE client_id = $1`;
    await expect(database.dataSource.query(forged, [clientId])).rejects.toThrow('client_logos_digest_check');
  });

  it('keeps one of two logos that are set concurrently', async () => {
    const clientId = await fixture.client();
    const digests = await Promise.all([logos.set(clientId, logo()), logos.set(clientId, logo())]);
    const stays = (await clients.find(clientId))?.logo;
    expect(digests).toContain(stays);
  });
});

describe('ClientTransferStore', () => {
  let database: OpenDatabase;

  beforeAll(async () => (database = await openDatabase()));
  afterAll(() => database.close());

  // Each distinct text needs one of a limited number of prepared statements.
  it('sends the same statements for any number of clients', async () => {
    const fixture = people(database.dataSource);
    const clientIds = [await fixture.client(), await fixture.client(), await fixture.client()];
    const store = new ClientTransferStore(database.dataSource);
    const statements = (count: number) =>
      database.statementsOf(() => {
        const secretIds = Array.from({ length: count }, () => randomUUID());
        return store.change({ clientIds: clientIds.slice(0, count), secretIds }, () => []);
      });
    expect(await statements(3)).toEqual(await statements(1));
  });
});

const fixture = useGrants();

const sql = <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
  fixture.database.dataSource.query<Row[]>(text, values);

const exists = async (clientId: string): Promise<boolean> =>
  (await sql('SELECT 1 FROM clients WHERE client_id = $1', [clientId])).length === 1;

describe('deleting a client by plain SQL', () => {
  const DELETE = 'DELETE FROM clients WHERE client_id = $1';

  it('is rejected while a live or revoked grant to the client is recorded', async () => {
    const { userId, clientId, otherClientId, grants } = fixture;
    const id = await fixture.grant(userId, clientId);
    for (const revoke of [false, true]) {
      if (revoke) await grants.revoke(id);
      const refused = await refusalOf(sql(DELETE, [clientId]));
      expect(refused).toMatchObject({ message: 'client_grants_recorded', detail: `client ${clientId}` });
    }
    expect(await exists(clientId)).toBe(true);
    expect(await grants.find(id)).toMatchObject({ clientId });
    await sql(DELETE, [otherClientId]);
    expect(await exists(otherClientId)).toBe(false);
  });

  it('is rejected for TRUNCATE CASCADE, which would delete the grants too', async () => {
    const { userId, clientId, grants } = fixture;
    const id = await fixture.grant(userId, clientId);
    expect((await refusalOf(sql('TRUNCATE clients CASCADE'))).message).toBe('client_grants_recorded');
    expect(await grants.find(id)).not.toBeNull();
  });

  it('is rejected if a grant is recorded concurrently', async () => {
    const { userId, clientId, grants, database } = fixture;
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    const id = 'g'.repeat(43);
    await runner.query(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
       VALUES ($1, $2, $3, '', '', now() + interval '1 day', interval '1 day')`,
      [id, userId, clientId],
    );
    const deleting = refusalOf(sql(DELETE, [clientId]));
    await blocked(database);
    await runner.commitTransaction();
    await runner.release();
    expect((await deleting).code).toMatch(/^23/);
    expect(await exists(clientId)).toBe(true);
    expect(await grants.find(id)).toMatchObject({ clientId, revokedAt: null });
  });
});

describe('a client that is being disabled', () => {
  it('gets no concurrent or later grant until it is enabled', async () => {
    const { userId, clientId, grants, database } = fixture;
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE clients SET disabled_at = now() WHERE client_id = $1', [clientId]);
    const record = (id: string, declined: readonly string[] = []) => {
      const grant = { id: id.repeat(43), userId, clientId, scope: 'a', requestedScope: 'a b' };
      const expiresAt = new Date(Date.now() + 60_000);
      const full = { ...grant, resources: null, expiresAt };
      return grants.create(full, declined);
    };
    const recording = [record('h'), record('i', ['b'])];
    await blocked(database, 2);
    await runner.commitTransaction();
    await runner.release();
    expect(await Promise.all(recording)).toEqual([null, null]);
    expect([await record('h'), await record('i', ['b'])]).toEqual([null, null]);
    await sql('UPDATE clients SET disabled_at = NULL WHERE client_id = $1', [clientId]);
    const ended = { declined: [], aboveLimit: [] };
    expect([await record('h'), await record('i', ['b'])]).toEqual([ended, ended]);
  });
});
