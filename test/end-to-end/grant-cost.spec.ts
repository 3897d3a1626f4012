import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { ClientStore } from '#clients/client.store.js';
import { FIELD } from '#grants/grant-hash.js';
import { grantId, TokenCodec } from '#grants/token-codec.js';
import { KeyRing } from '#keys/key-ring.js';
import { OAuthClient, sendTo } from '#local/demo/oauth-client.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { Browser } from '../support/browser.js';
import { monitorRedis } from '../support/redis-monitor.js';
import { withDatabase } from '../support/test-database.js';
import { type RunningProduct, startProduct, withStores } from './running-product.js';

const REDIRECT_URI = 'https://app.example.com/callback';
const TOKEN_KEYS = Buffer.alloc(32, 7).toString('base64url');
const codec = new TokenCodec(KeyRing.parse(TOKEN_KEYS));
/** One digit, because the measured sizes depend on the length of the id. */
const USER_ID = 7;
interface Cost {
  /** Commands that were sent: name, number of arguments, and bytes of all arguments. */
  readonly commands: readonly (readonly [name: string, count: number, bytes: number])[];
  /** Bytes of the name and value of each field of the grant's hash. */
  readonly hash: Readonly<Record<string, number>>;
  /** Bytes of each column of the grant's row, without null columns. */
  readonly row: Readonly<Record<string, number>>;
}

let product: RunningProduct;
let redis: Redis;
let stopMonitor: () => void;
let client: OAuthClient<Promise<Record<string, string>>>;
let browser: Browser;
let commands: [name: string, count: number, bytes: number][] = [];
let columns: string;
const marks: string[] = [];

beforeAll(async () => {
  product = await startProduct({ TOKEN_KEYS }, { TOKEN_KEYS });
  columns = await withDatabase(product.databaseUrl, async (admin) => {
    await admin.query('UPDATE users SET id = $1', [USER_ID]);
    // Excludes the day of last use, which a delayed statement writes for several grants.
    const { fields } = await admin.query('SELECT * FROM grants LIMIT 0');
    const names = fields.map(({ name }) => name).filter((name) => name !== 'last_used_on');
    return names.map((name) => `pg_column_size(${name}) AS ${name}`).join();
  });
  const { secret, hash } = generateClientSecret();
  const { clientId } = await withStores(product.databaseUrl, (stores) =>
    stores.get(ClientStore).create({
      name: 'Calendar Connect',
      type: 'confidential',
      scopes: ['profile:read', 'openid'],
      redirectUris: [REDIRECT_URI],
      secretHash: hash,
    }),
  );
  const send = async (request: Parameters<typeof sendTo>[1]) =>
    (await sendTo(product.run.base_url, request)).json() as Promise<Record<string, string>>;
  client = new OAuthClient({ client_id: clientId, client_secret: secret }, REDIRECT_URI, send);
  redis = new Redis(product.redisUrl);
  stopMonitor = await monitorRedis(product.redisUrl, ([name = '', ...values], source) => {
    // Ignores PING of the readiness check, and commands in scripts, which are not sent.
    if (source === 'lua' || name === 'ping') return;
    if (name === 'echo') marks.push(values[0] ?? '');
    else commands.push([name, values.length, values.join('').length]);
  });
  browser = new Browser(product.run.auth_url);
  const { email, password } = product.run.user;
  await browser.submit(await browser.get('/auth/login'), { username: email, password });
  // The first flow loads the scripts and fills the caches.
  await flow('profile:read');
});

afterAll(async () => {
  stopMonitor();
  redis.disconnect();
  await product.close();
});

/** Resolves when the monitor has reported all earlier commands. The monitor is ordered but delayed. */
async function settled(): Promise<void> {
  const mark = randomUUID();
  await redis.echo(mark);
  while (!marks.includes(mark)) await new Promise(setImmediate);
}

async function sizes(id: string): Promise<Pick<Cost, 'hash' | 'row'>> {
  const stored = await redis.hgetall(`grant:${id}`);
  const bytes = Object.entries(stored).map(([name, value]) => [name, name.length + Buffer.byteLength(value)]);
  const row = await withDatabase(product.databaseUrl, async (admin) => {
    const query = `SELECT ${columns} FROM grants WHERE id = $1`;
    return (await admin.query<Record<string, number | null>>(query, [id])).rows[0] ?? {};
  });
  return {
    hash: Object.fromEntries(bytes) as Cost['hash'],
    row: Object.fromEntries(Object.entries(row).filter(([, size]) => size !== null)) as Cost['row'],
  };
}

async function flow(scope: string, parameters: Readonly<Record<string, string>> = {}) {
  const url = client.authorizationUrl(product.run.auth_url, { scope, prompt: 'consent', ...parameters });
  const page = await browser.get(url);
  const costs: Cost[] = [];
  async function measure(action: () => Promise<string>): Promise<string> {
    await settled();
    commands = [];
    const token = await action();
    await settled();
    const sent = [...commands];
    costs.push({ commands: sent, ...(await sizes(grantId(codec.decode(token)?.handle ?? Buffer.alloc(0)))) });
    return token;
  }
  const code = await measure(async () => {
    const answer = await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
    return new URL(answer.headers['location'] ?? '').searchParams.get('code') ?? '';
  });
  const refreshToken = await measure(async () => (await client.redeem(code))['refresh_token'] ?? '');
  await measure(async () => (await client.refresh(refreshToken))['refresh_token'] ?? '');
  const [allow, exchange, refresh] = costs;
  return { allow, exchange, refresh };
}

/** Bytes of each field without OpenID Connect. Every grant stores these bytes, so a change must be deliberate. */
const ACTIVE = {
  [FIELD.status]: 2,
  [FIELD.generation]: 2,
  [FIELD.client]: 28,
  [FIELD.user]: 2,
  [FIELD.scope]: 13,
  [FIELD.rotatedAt]: 14,
};
const PENDING = { ...ACTIVE, redirect_uri: 44, challenge: 9, replication_id: 54 };
const ROW = {
  id: 44,
  user_id: 4,
  client_id: 28,
  scope: 13,
  requested_scope: 13,
  resources: 1,
  created_at: 8,
  lifetime: 16,
  expires_at: 8,
};

const SESSION = ['getex', 3, 58] as const;
/** Each script has a deadline of 13 digits. */
const EXCHANGE = ['evalsha', 14, 256] as const;
const REFRESH = ['evalsha', 13, 156] as const;

describe('the consent, code exchange and refresh', () => {
  it('cost four Redis commands, 61 bytes in Redis and 135 bytes in PostgreSQL without openid', async () => {
    expect(await flow('profile:read')).toEqual({
      allow: { commands: [SESSION, ['evalsha', 14, 190]], hash: PENDING, row: ROW },
      exchange: { commands: [EXCHANGE], hash: ACTIVE, row: ROW },
      refresh: { commands: [REFRESH], hash: ACTIVE, row: ROW },
    });
    const total = (sizes: object) =>
      Object.values(sizes).reduce((sum: number, size: number) => sum + size, 0);
    expect([total(ACTIVE), total(ROW)]).toEqual([61, 135]);
  });

  it.each([
    ['a nonce', { nonce: 'n-1' }],
    ['claims and max_age', { claims: '{"id_token":{"email":null}}', max_age: '9999' }],
  ])('cost no more without openid if the request contains %s', async (_, parameters) => {
    expect(await flow('profile:read', parameters)).toEqual(await flow('profile:read'));
  });

  it('also store the login with openid, and the nonce until the exchange', async () => {
    const longer = 'openid '.length;
    const active = { ...ACTIVE, [FIELD.scope]: ACTIVE[FIELD.scope] + longer, [FIELD.login]: 55 };
    const pending = { ...PENDING, ...active, id_token: 32 };
    const row = {
      ...ROW,
      scope: ROW.scope + longer,
      requested_scope: ROW.requested_scope + longer,
      auth_time: 8,
      session: 44,
    };
    const bytes = 190 + longer + 54 + 24;
    expect(await flow('openid profile:read', { nonce: 'n-0S6_WzA2Mj' })).toEqual({
      allow: { commands: [SESSION, ['evalsha', 16, bytes]], hash: pending, row },
      exchange: { commands: [EXCHANGE], hash: active, row },
      refresh: { commands: [REFRESH], hash: active, row },
    });
  });
});
