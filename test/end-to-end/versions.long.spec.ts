import { connect, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { natsOptions } from '#messaging/nats.connection.js';
import { type AppProcess, startApp } from '../support/app-process.js';
import { DpopKey } from '../support/keys.js';
import { REDIRECT_URI } from '../support/fixture.js';
import { type Isolated, isolate } from '../support/isolate.js';
import { startTokenProcess, type TokenProcess } from '../support/token-process.js';
import { until } from '../support/until.js';

// A roll-out replaces APIs and token apps in any order, so that different versions communicate over NATS. The
// messages of 0.1.0 are literals here, because they must not change with the contract. Every version must accept
// them, and must ignore fields of later versions.
const API_URL = 'https://api.example.com';
const GRANT = { grant_id: 'g'.repeat(43), client_id: 'sc_a', sub: '7', scope: 'profile:read' };
const PROFILE = {
  id: 7,
  username: 'ada',
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  avatarUrl: null,
  bio: null,
  timeFormat: 12,
  defaultScheduleId: null,
  weekStart: 'Sunday',
  timeZone: 'UTC',
  organizationId: null,
};
const UNKNOWN = { later: { of: ['a', 'later', 'version'] } };

interface Proof {
  readonly jkt?: unknown;
  readonly jti?: unknown;
  readonly expires_at?: unknown;
}

interface Request {
  readonly token?: string;
  readonly jkt?: string;
  readonly proof?: Proof;
}

function consumed({ jkt, jti, expires_at: expiresAt }: Proof): object {
  const isProof = typeof jkt === 'string' && typeof jti === 'string' && typeof expiresAt === 'number';
  return isProof ? { outcome: 'consumed' } : {};
}

/** Token app of 0.1.0. Its messages may contain additional fields of a later version. */
class TokenAppOf01 {
  revoked = false;

  constructor(
    private readonly nats: NatsConnection,
    private readonly added: object,
  ) {
    this.answer('oauth.token.introspect', (data) => this.introspect(data as Request));
    this.answer('oauth.dpop.consume', (data) => consumed(data as Proof));
    this.answer('oauth.user.profile', (data) => ({
      user: (data as { user_id: unknown }).user_id === PROFILE.id ? PROFILE : null,
    }));
  }

  async revoke(): Promise<void> {
    this.revoked = true;
    this.nats.publish('oauth.grant.revoked', JSON.stringify({ grant_id: GRANT.grant_id, ...this.added }));
    await this.nats.flush();
  }

  private introspect({ token = '', jkt, proof }: Request): object {
    if (this.revoked || (token.startsWith('bound') && jkt === undefined)) return { active: false };
    const active = { active: true, ...GRANT, exp: Math.floor(Date.now() / 1000) + 600 };
    if (token === 'here') return { ...active, aud: [API_URL], external_id: 'ada-1815' };
    if (token === 'elsewhere') return { ...active, aud: ['https://other.example.com'] };
    if (!token.startsWith('bound')) return active;
    return { ...active, cnf: { jkt }, ...(proof && { proof: consumed(proof) }) };
  }

  private answer(subject: string, reply: (data: unknown) => object): void {
    const callback = (_: Error | null, message: Msg): void => {
      const { data, id } = message.json<{ data: unknown; id: string }>();
      const response = { ...reply(data), ...this.added };
      message.respond(JSON.stringify({ response, isDisposed: true, id, ...this.added }));
    };
    this.nats.subscribe(subject, { callback });
  }
}

describe.each([
  ['of 0.1.0', {}],
  ['whose messages contain unknown fields', UNKNOWN],
])('the API of this version with a token app %s', (_, added) => {
  let services: Isolated;
  let nats: NatsConnection;
  let tokenApp: TokenAppOf01;
  let api: AppProcess;

  beforeAll(async () => {
    services = await isolate();
    nats = await connect(natsOptions(services.natsUrl, 'token'));
    tokenApp = new TokenAppOf01(nats, added);
    await nats.flush();
    const env = {
      BASE_URL: 'https://base.example.com',
      API_URL,
      NATS_URL: services.natsUrl,
      LOG_LEVEL: 'fatal',
    };
    api = await startApp('resource', env);
  });

  afterAll(async () => {
    await api.stop();
    await nats.close();
    await services.close();
  });

  const me = (headers: Record<string, string>): Promise<Response> => fetch(`${api.url}/v2/me`, { headers });

  it('accepts bearer tokens and bound tokens', async () => {
    const answer = await me({ Authorization: 'Bearer bearer' });
    expect(await answer.json()).toEqual({ status: 'success', data: expect.objectContaining(PROFILE) });
    const key = await DpopKey.generate();
    for (let round = 0; round < 2; round += 1) {
      const DPoP = await key.proof('GET', `${API_URL}/v2/me`, { accessToken: 'bound' });
      expect((await me({ Authorization: 'DPoP bound', DPoP })).status).toBe(200);
    }
    expect((await me({ Authorization: 'Bearer bound' })).status).toBe(401);
  });

  it('accepts only tokens for this API', async () => {
    expect((await me({ Authorization: 'Bearer elsewhere' })).status).toBe(401);
    expect((await me({ Authorization: 'Bearer here' })).status).toBe(200);
  });

  it('rejects a token after the broadcast of its revocation', async () => {
    await tokenApp.revoke();
    // Less than the 30 s after which the cache entry expires.
    await until(
      'the token is refused',
      20_000,
      async () => (await me({ Authorization: 'Bearer bearer' })).status === 401,
    );
  });
});

describe('the token app of this version', () => {
  let app: TokenProcess;

  beforeAll(async () => (app = await startTokenProcess()));
  afterAll(() => app.close());

  async function accessToken(headers: Record<string, string> = {}): Promise<string> {
    const code = await app.code(app.ours.client_id, app.userId);
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      ...app.ours,
    });
    const answer = await fetch(`${app.url}/api/auth/oauth/token`, { method: 'POST', headers, body });
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  it.each([
    ['of 0.1.0', {}],
    ['whose messages contain unknown fields', UNKNOWN],
  ])('responds to an API and an operator %s', async (_, added) => {
    const bearer = await accessToken();
    const live = {
      active: true,
      client_id: app.ours.client_id,
      sub: String(app.userId),
      scope: 'profile:read',
    };
    const active = { ...live, grant_id: expect.any(String), exp: expect.any(Number) };
    expect(await app.ask('oauth.token.introspect', { token: bearer, ...added })).toMatchObject(active);

    const key = await DpopKey.generate();
    const DPoP = await key.proof('POST', 'https://base.example.com/api/auth/oauth/token');
    const token = await accessToken({ DPoP });
    const { jkt } = key;
    const proof = (jti: string) => ({ jkt, jti, expires_at: Date.now() + 60_000, ...added });
    expect(
      await app.ask('oauth.token.introspect', { token, jkt, proof: proof('one'), ...added }),
    ).toMatchObject({ ...active, cnf: { jkt }, proof: { outcome: 'consumed' } });
    expect(await app.ask('oauth.token.introspect', { token, ...added })).toMatchObject({ active: false });
    expect(await app.ask('oauth.dpop.consume', proof('two'))).toMatchObject({ outcome: 'consumed' });
    expect(await app.ask('oauth.dpop.consume', proof('two'))).toMatchObject({ outcome: 'replayed' });

    const { user } = await app.ask<{ user: object }>('oauth.user.profile', { user_id: app.userId, ...added });
    expect(Object.keys(user)).toEqual(expect.arrayContaining(Object.keys(PROFILE)));
    const client = await app.client();
    expect(
      await app.ask('oauth.grant.apply_revocations', { client_id: client.client_id, ...added }),
    ).toMatchObject({ applied: 0 });
  });
});
