import { ClientStore } from '#clients/client.store.js';
import { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { type ListPage, parseCursor, type PageRequest } from '#platform/postgres/list-page.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { UserStore } from '#users/user.store.js';
import { useGrants } from '../../grants/test/records/use-grants.js';

const fixture = useGrants();
let clients: ClientStore;
let accounts: UserAccountStore;
let grants: GrantAdministrationStore;

beforeAll(() => {
  const { dataSource } = fixture.database;
  clients = new ClientStore(dataSource);
  accounts = new UserAccountStore(dataSource);
  grants = new GrantAdministrationStore(dataSource);
});

type List = (request: PageRequest) => Promise<ListPage<string>>;

async function client(name: string, contacts: string[] = []): Promise<string> {
  const { clientId } = await clients.create({
    name,
    type: 'public',
    scopes: ['profile:read'],
    redirectUris: [`https://${name.replaceAll(/\W/g, '-').toLowerCase()}.example/callback`],
    clientUri: null,
    policyUri: null,
    contacts,
  });
  return clientId;
}

async function user(username: string): Promise<number> {
  const email = `${username}@list.example`;
  const users = new UserStore(fixture.database.dataSource);
  return (await users.create({ email, username, name: `Name of ${username}`, passwordHash: '$argon2id$x' }))
    .id;
}

const clientIds =
  (search: string): List =>
  async (request) => {
    const page = await clients.list({ search }, request);
    return { ...page, items: page.items.map(({ clientId }) => clientId) };
  };
const userIds =
  (search: string): List =>
  async (request) => {
    const page = await accounts.list({ search }, request);
    return { ...page, items: page.items.map(({ id }) => String(id)) };
  };
const grantIds: List = async (request) => {
  const { userId, clientId } = fixture;
  const page = await grants.list({ userId, clientId, ended: true }, request);
  return { ...page, items: page.items.map(({ id }) => id) };
};

const request = (cursor: string | null, limit = 2): PageRequest => {
  const parsed = cursor === null ? undefined : parseCursor(cursor);
  if (parsed === null) throw new Error(`not a cursor: ${cursor}`);
  return { cursor: parsed, limit };
};

async function forwards(list: List, from: string | null = null): Promise<ListPage<string>[]> {
  const pages = [await list(request(from))];
  for (let page = pages[0]; page?.next; pages.push(page)) page = await list(request(page.next));
  return pages;
}

async function backwards(list: List, from: string | null): Promise<string[]> {
  const found: string[] = [];
  for (let cursor = from; cursor !== null;) {
    const page = await list(request(cursor));
    found.unshift(...page.items);
    cursor = page.previous;
  }
  return found;
}

let added = 0;

const LISTS: [string, () => Promise<{ readonly list: List; readonly add: () => Promise<string> }>][] = [
  [
    'clients',
    async () => {
      const add = () => client('Walked client');
      for (let n = 0; n < 5; n++) await add();
      await fixture.database.sql(`UPDATE clients SET created_at = now() WHERE name = 'Walked client'`);
      return { list: clientIds('walked client'), add };
    },
  ],
  [
    'users',
    async () => {
      const add = async () => String(await user(`walked${++added}`));
      for (let n = 0; n < 5; n++) await add();
      await fixture.database.sql(`UPDATE users SET created_at = now() WHERE username LIKE 'walked%'`);
      return { list: userIds('walked'), add };
    },
  ],
  [
    'grants',
    async () => {
      const add = () => fixture.grant(fixture.userId, fixture.clientId);
      for (let n = 0; n < 5; n++) await add();
      await fixture.database.sql('UPDATE grants SET created_at = now()');
      return { list: grantIds, add };
    },
  ],
];

describe.each(LISTS)('the list of %s', (_name, prepare) => {
  it('contains each record once in its pages, newest first, also if all were created at the same time', async () => {
    const { list, add } = await prepare();
    const newest = await add();
    const pages = await forwards(list);
    const ids = pages.flatMap(({ items }) => items);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
    expect(ids[0]).toBe(newest);
    expect(pages.map(({ previous }) => previous !== null)).toEqual([false, true, true]);
  });

  it('returns to the pages before, whatever was added in the meantime', async () => {
    const { list, add } = await prepare();
    const pages = await forwards(list);
    const before = pages.flatMap(({ items }) => items);
    const added = [await add(), await add(), await add()];
    const last = pages.at(-1);
    expect((await backwards(list, last?.previous ?? null)).concat(last?.items ?? [])).toEqual([
      ...added.toReversed(),
      ...before,
    ]);
  });
});

describe('the search in clients and users', () => {
  it.each([['client_id'], ['name'], ['redirect URI'], ['contact'], ['id:']])(
    'finds a client by its %s',
    async (field) => {
      const id = await client('Rooms & Desks', ['Support@rooms.example']);
      const text = {
        client_id: id.slice(4, 20),
        name: 'ROOMS & d',
        'redirect URI': 'https://rooms---desks.example',
        contact: 'support@ROOMS',
        'id:': `id:${id}`,
      }[field];
      expect((await clientIds(text ?? '')(request(null))).items).toContain(id);
    },
  );

  it('finds a user by id, and no other user', async () => {
    const id = await user('found');
    expect((await userIds(`id:${id}`)(request(null))).items).toEqual([String(id)]);
    for (const search of ['id:', 'id:x', 'id:0', 'id:99999999999'])
      expect((await userIds(search)(request(null))).items).toEqual([]);
  });

  it('treats wildcards and backslashes as text', async () => {
    const id = await client('100%_of\\it');
    for (const search of ['100%_of\\it', '%_o', 'of\\']) {
      expect((await clientIds(search)(request(null))).items).toEqual([id]);
      expect(await clients.ids({ search })).toEqual([id]);
    }
    expect((await clientIds('1_0')(request(null))).items).toEqual([]);
    expect((await userIds('%')(request(null))).items).toEqual([]);
  });

  it('filters by state and kind', async () => {
    const search = 'Filtered';
    const [enabled, disabled] = [await client(search), await client(search)];
    await fixture.database.sql(`UPDATE clients SET disabled_at = now() WHERE client_id = '${disabled}'`);
    expect(await clients.ids({ search, state: 'enabled' })).toEqual([enabled]);
    expect(await clients.ids({ search, state: 'disabled' })).toEqual([disabled]);
    expect(await clients.count({ search, kind: 'public' })).toBe(2);
    for (const kind of ['confidential', 'api', 'document'] as const)
      expect(await clients.count({ search, kind })).toBe(0);
    const operator = await user('filtered');
    await fixture.database.sql(`UPDATE users SET console_role = 'admin' WHERE id = ${operator}`);
    expect(await accounts.ids({ search, kind: 'operator', state: 'enabled' })).toEqual([String(operator)]);
    expect(await accounts.count({ search, kind: 'product' })).toBe(0);
    expect(await accounts.count({ search, state: 'disabled' })).toBe(0);
  });

  it('reads an index, not every row', async () => {
    const { dataSource } = fixture.database;
    const planOf = async (work: () => Promise<unknown>, indexscan = 'on') => {
      const [statement] = await fixture.database.statementsWithValuesOf(work);
      // The tables of a test are so small that PostgreSQL would read them whole.
      return dataSource.transaction(async (manager) => {
        await manager.query('SET LOCAL enable_seqscan = off');
        await manager.query(`SET LOCAL enable_indexscan = ${indexscan}`);
        return JSON.stringify(await manager.query(`EXPLAIN ${statement?.text}`, statement?.values));
      });
    };
    const read = { limit: 50 };
    // Indexes of substrings are read as bitmaps. Reading every row in the order of another index is an index scan.
    expect(await planOf(() => clients.count({ search: 'nowhere' }), 'off')).toContain('clients_search');
    expect(await planOf(() => accounts.count({ search: 'nowhere' }), 'off')).toContain('users_search');
    expect(await planOf(() => clients.list({}, read))).toContain('clients_newest');
    expect(await planOf(() => accounts.list({}, read))).toContain('users_newest');
    const { clientId } = fixture;
    expect(await planOf(() => grants.list({ clientId, ended: false }, read))).toMatch(/grants_\w*newest/);
  });
});

describe('a search of two characters', () => {
  it('finds the beginnings of fields and words, by the index', async () => {
    const found = [await user('qz1'), await user('ada.qz')];
    await user('aqzb');
    await fixture.database.sql(`UPDATE users SET name = 'Ada QZ' WHERE id = ${found[1]}`);
    const { items } = await accounts.list({ search: 'Qz' }, request(null, 10));
    expect(items.map(({ id }) => id)).toEqual(found.toReversed());
    const ids = await accounts.ids({ search: 'z1' });
    expect(ids).toEqual([]);
  });

  it('treats every special character as text', async () => {
    const special = Array.from('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~');
    const id = await client(`x${special.map((character) => ` ${character}k`).join('')}`);
    await client('ak  kk');
    for (const character of special)
      expect([character, await clients.ids({ search: `${character}K` })]).toEqual([character, [id]]);
  });
});
