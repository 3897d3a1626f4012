import { createHash, randomBytes } from 'node:crypto';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { ClientSecretStore } from '#clients/client-secret.store.js';
import { generateClientSecret, matchClientSecret } from '#oauth/oauth-client.js';
import { ClientStore } from '#clients/client.store.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UserStore } from '#users/user.store.js';
import { openDatabase, type OpenDatabase } from '../../database/test/support/open-database.js';

const CALLBACK = 'https://app.example/callback';

describe('ClientRegistrationStore', () => {
  let database: OpenDatabase;
  let clients: ClientStore;
  let registrations: ClientRegistrationStore;
  let grants: GrantRecordStore;
  let userId: number;

  beforeAll(async () => {
    database = await openDatabase();
    clients = new ClientStore(database.dataSource);
    registrations = new ClientRegistrationStore(database.dataSource);
    grants = new GrantRecordStore(database.dataSource);
    const passwordHash = '$argon2id$nobody logs in with this';
    const users = new UserStore(database.dataSource);
    ({ id: userId } = await users.create({
      email: 'ada@example.com',
      username: 'ada',
      name: 'Ada',
      passwordHash,
    }));
  });
  afterAll(() => database.close());

  const registered = async () =>
    (
      await clients.create({
        name: 'Calendar',
        type: 'confidential',
        scopes: ['profile:read'],
        redirectUris: [CALLBACK],
        secretHash: generateClientSecret().hash,
      })
    ).clientId;
  const granted = async (clientId: string) => {
    const id = createHash('sha256').update(randomBytes(16)).digest('base64url');
    const expiresAt = new Date(Date.now() + 86_400_000);
    const scope = 'profile:read';
    return {
      id,
      created: await grants.create({
        id,
        userId,
        clientId,
        scope,
        requestedScope: scope,
        resources: null,
        expiresAt,
      }),
    };
  };

  it('returns the scopes of the registration', async () => {
    expect((await clients.find(await registered()))?.scopes).toEqual(['profile:read']);
    const scopes = ['bookings:read', 'profile:read'];
    const { clientId } = await clients.create({
      name: 'A',
      type: 'public',
      redirectUris: [CALLBACK],
      scopes,
    });
    expect((await clients.find(clientId))?.scopes).toEqual(scopes);
  });

  it('changes only the given fields', async () => {
    const clientId = await registered();
    const before = await clients.find(clientId);
    const changed = await registrations.update(clientId, (current) => ({ ...current, name: 'Renamed' }));
    expect(changed).toMatchObject({
      before: { name: 'Calendar', redirectUris: [CALLBACK], logo: null },
      after: { name: 'Renamed', redirectUris: [CALLBACK], logo: null },
    });
    expect(await clients.find(clientId)).toEqual({ ...before, name: 'Renamed', version: 2 });
  });

  it('changes all fields that pages show, including the logo, in one transaction', async () => {
    const clientId = await registered();
    const logo = { mediaType: 'image/png', image: randomBytes(30) } as const;
    const wanted = {
      scopes: ['profile:read', 'bookings:read'],
      optionalScopes: ['bookings:read'],
      requirePar: true,
      requireState: false,
      firstParty: true,
    };
    const digest = createHash('sha256').update(logo.image).digest('hex');
    await registrations.update(clientId, (current) => ({ ...current, ...wanted, logo }));
    expect(await clients.find(clientId)).toMatchObject({ ...wanted, logo: digest });
    await registrations.update(clientId, (current) => ({ ...current, name: 'Renamed' }));
    expect(await clients.find(clientId)).toMatchObject({ ...wanted, logo: digest });
    const tooMuch = { ...wanted, optionalScopes: ['schedules:read'], logo: null };
    const update = registrations.update(clientId, (current) => ({ ...current, ...tooMuch }));
    await expect(update).rejects.toThrow('clients_optional_scopes_check');
    expect(await clients.find(clientId)).toMatchObject({ ...wanted, logo: digest });
    await registrations.update(clientId, (current) => ({ ...current, logo: null }));
    expect(await clients.find(clientId)).toMatchObject({ ...wanted, logo: null });
  });

  it('keeps all of several concurrent changes', async () => {
    const clientId = await registered();
    const uris = Array.from({ length: 8 }, (_, index) => `${CALLBACK}/${index}`);
    await Promise.all(
      uris.map((uri) =>
        registrations.update(clientId, (current) => ({
          ...current,
          redirectUris: [...current.redirectUris, uri],
        })),
      ),
    );
    expect((await clients.find(clientId))?.redirectUris.toSorted()).toEqual([CALLBACK, ...uris]);
  });

  it('writes nothing if the change throws, and returns null for an unknown client', async () => {
    const clientId = await registered();
    const before = await clients.find(clientId);
    const refuse = () => {
      throw new Error('invalid change');
    };
    await expect(registrations.update(clientId, refuse)).rejects.toThrow('invalid change');
    expect(await clients.find(clientId)).toEqual(before);
    await expect(registrations.update('sc_unknown', refuse)).rejects.toThrow('client_unknown');
    await expect(registrations.delete('sc_unknown')).rejects.toThrow('client_unknown');
  });

  it('deletes a client with its secrets and grants, and never reuses its identifier', async () => {
    const clientId = await registered();
    const other = await registered();
    const [one, two, kept] = [await granted(clientId), await granted(clientId), await granted(other)];
    expect(await registrations.delete(clientId)).toEqual({ first: true, revokedGrants: 2 });
    expect(await clients.find(clientId)).toBeNull();
    expect((await clients.enabled('')).map((enabled) => enabled.clientId)).not.toContain(clientId);
    for (const { id } of [one, two]) expect((await grants.find(id))?.revokedAt).toBeInstanceOf(Date);
    expect((await grants.find(kept.id))?.revokedAt).toBeNull();
    expect((await grants.revokedOf({ clientId })).toSorted()).toEqual([one.id, two.id].toSorted());
    expect(await grants.revokedOf({ clientId: other })).toEqual([]);
    const secrets = new ClientSecretStore(database.dataSource);
    const added = secrets.add(clientId, generateClientSecret().hash);
    await expect(added).rejects.toThrow('client_unknown');
    await expect(registrations.update(clientId, (current) => current)).rejects.toThrow('client_unknown');
    const again = clients.create({
      name: 'B',
      type: 'public',
      scopes: ['profile:read'],
      redirectUris: [CALLBACK],
      clientId,
    });
    await expect(again).rejects.toThrow('already registered');
    expect(await registrations.delete(clientId)).toEqual({ first: false, revokedGrants: 0 });
  });

  it('leaves no live grant to a deleted client, even if a grant is recorded during the deletion', async () => {
    const clientId = await registered();
    const [revoked, ...late] = await Promise.all([
      registrations.delete(clientId),
      ...Array.from({ length: 20 }, () => granted(clientId)),
    ]);
    expect(revoked?.revokedGrants).toBe(late.filter(({ created }) => created).length);
    const live = 'SELECT 1 FROM grants WHERE client_id = $1 AND revoked_at IS NULL';
    expect(await database.dataSource.query(live, [clientId])).toEqual([]);
    expect(await granted(clientId)).toMatchObject({ created: null });
  });
});

const redirectUris = ['https://app.example/callback'];
const newHash = () => generateClientSecret().hash;
const outcomesOf = async (changes: readonly Promise<unknown>[]) => {
  const results = await Promise.allSettled(changes);
  return results
    .map((one) => (one.status === 'rejected' ? (one.reason as Error).message : 'done'))
    .toSorted();
};
const idsOf = (secrets: readonly { readonly id: string }[]) => secrets.map(({ id }) => id);

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
    return listed.map(({ lastUsedAt }) => lastUsedAt?.toISOString());
  };

  it('adds a second secret, and rejects a third', async () => {
    const clientId = await confidential();
    const [first] = idsOf(await secrets.list(clientId));
    const added = await secrets.add(clientId, newHash());
    expect(added).toMatchObject([{ id: first }, { lastUsedAt: null }]);
    await expect(secrets.add(clientId, newHash())).rejects.toMatchObject({
      kind: 'conflict',
      problems: [
        { id: 'two_live_secrets', values: {} },
        ...idsOf(added).map((id) => ({ values: { clientId, secret: { id, lastUsedAt: null } } })),
      ],
    });
    expect((await clients.find(clientId))?.secrets).toHaveLength(2);
  });

  // @reliability race-secrets
  it('never stores three live secrets after concurrent calls', async () => {
    const clientId = await confidential();
    const outcomes = await outcomesOf(Array.from({ length: 8 }, () => secrets.add(clientId, newHash())));
    expect(outcomes).toEqual([
      'done',
      ...Array.from({ length: 7 }, () => expect.stringContaining('two_live')),
    ]);
    expect((await clients.find(clientId))?.secrets).toHaveLength(2);
  });

  it('revokes one of two secrets, but the last secret only with force', async () => {
    const clientId = await confidential();
    const [first = ''] = idsOf(await secrets.list(clientId));
    const [, second = ''] = idsOf(await secrets.add(clientId, newHash()));
    expect(await secrets.revoke(clientId, first)).toMatchObject([{ id: second }]);
    await expect(secrets.revoke(clientId, second)).rejects.toThrow('last_live_secret');
    expect((await clients.find(clientId))?.secrets.map(({ id }) => id)).toEqual([second]);
    expect(await secrets.revoke(clientId, second, true)).toEqual([]);
    expect((await clients.find(clientId))?.secrets).toEqual([]);
  });

  it('keeps one secret live if both are revoked concurrently', async () => {
    const clientId = await confidential();
    const ids = idsOf(await secrets.add(clientId, newHash()));
    const outcomes = await outcomesOf(ids.map((id) => secrets.revoke(clientId, id)));
    expect(outcomes).toEqual(['done', 'last_live_secret']);
    expect((await clients.find(clientId))?.secrets).toHaveLength(1);
  });

  it('finds only live secrets of the named client', async () => {
    const [clientId, other] = [await confidential(), await confidential()];
    const [own = ''] = idsOf(await secrets.list(clientId));
    await expect(secrets.revoke(other, own)).rejects.toThrow('secret_unknown');
    await expect(secrets.revoke(clientId, 'no uuid')).rejects.toThrow('secret_unknown');
    await secrets.add(clientId, newHash());
    await secrets.revoke(clientId, own);
    await expect(secrets.revoke(clientId, own)).rejects.toThrow('secret_unknown');
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
      await expect(work(clientId)).rejects.toThrow('public_client');
      await expect(work('sc_unknown')).rejects.toThrow('client_unknown');
    }
    expect((await clients.find(clientId))?.secrets).toEqual([]);
  });

  it('records the last use of many secrets with one statement, and ignores earlier times', async () => {
    const clientId = await confidential();
    const [one = '', two = ''] = idsOf(await secrets.add(clientId, newHash()));
    const uses = [
      { id: one, at: '2030-01-01T05:00:00.000Z' },
      { id: one, at: '2030-01-01T07:00:00.000Z' },
      { id: two, at: '2030-01-01T06:00:00.000Z' },
    ];
    expect(await database.statementsOf(() => secrets.touch(uses))).toHaveLength(1);
    await secrets.touch([{ id: one, at: '2030-01-01T06:00:00.000Z' }]);
    expect(await usedOn(clientId)).toEqual(['2030-01-01T07:00:00.000Z', '2030-01-01T06:00:00.000Z']);
    expect(await database.statementsOf(() => secrets.touch([]))).toEqual([]);
  });

  it('identifies the presented secret', () => {
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
