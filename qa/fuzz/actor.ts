import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { csrfToken } from '#ui/browser-cookie.js';
import type { FormPurpose } from '../../apps/authorize/src/session/csrf.guard.js';
import { POST_LOGOUT_URI } from './answer-oracle.js';
import { type Answer, header, locationOf } from './wire.js';
import type { SecretKind } from './leaks.js';
import { logInToPortal, type PortalLogin } from '../portal-login.js';
import type { TestEnvironment } from './test-environment.js';
import { EventStreamStore } from '#events/event-stream.store.js';
import { storeRequest } from '../../apps/console/test/support/stored-request.js';
import { ADMIN_SCOPES } from '#oauth/client-credentials.js';
import { generateClientId, generateClientSecret } from '#oauth/oauth-client.js';
import { ConsoleInvitationStore } from '#users/operators/console-invitation.store.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { hashPassword } from '#users/password.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { challengeOf } from '#oauth/pkce.js';
import { ASSERTION_TYPE, ClientKey, DpopKey, keysOf } from '#test/support/keys.js';

export interface FuzzClient {
  readonly id: string;
  readonly secret: string | undefined;
  readonly redirectUris: readonly string[];
}

export interface TokenPair {
  readonly client: FuzzClient;
  readonly access: string;
  readonly refresh: string;
  /** True if the tokens are bound to the actor's key (RFC 9449). */
  readonly bound: boolean;
  /** Absent for the public client, which does not request `openid`. */
  readonly idToken: string | undefined;
  readonly issuedAt: number;
}

export interface GrantKind {
  readonly isPublic: boolean;
  readonly bound: boolean;
}

const random = (size = 24) => randomBytes(size).toString('base64url');
/** An image of one pixel. */
export const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Maximum number of retired credentials, which mutations insert in wrong places. */
const MAX_RETIRED = 60;
const MAX_ATTEMPTS = 10;
/** Shorter than the lifetimes of access tokens: 30 minutes, or 10 minutes for the console. */
const SHARED_FOR_MS = 20 * 60_000;
const ADMIN_SHARED_FOR_MS = 5 * 60_000;

/**
 * Clients and users of one lane, with their credentials. Lanes do not share actors, because they would invalidate
 * each other's credentials.
 */
export class Actor {
  /** Each pair belongs to a separate grant. */
  private pairs: TokenPair[] = [];
  private readonly retired: string[] = [];
  private readonly adminTokens = new Map<boolean, { readonly token: string; readonly issuedAt: number }>();
  /** Ids of resources that no request changes, by the first part of the resource's path. */
  private readonly targets = new Map<string, readonly string[]>();
  private cookie: string | null = null;
  private portalLogin: PortalLogin | null = null;
  private portalIds: Readonly<Record<string, string>> | null = null;

  private constructor(
    readonly environment: TestEnvironment,
    readonly confidential: FuzzClient,
    readonly publicClient: FuzzClient,
    readonly resourceServer: { readonly id: string; readonly secret: string },
    private readonly apiClient: { readonly id: string; readonly key: ClientKey },
    readonly logo: string,
    readonly key: DpopKey,
    /** User who owns the grants of the token endpoints, and who never logs in. */
    private readonly owner: number,
    readonly user: { readonly id: number; readonly email: string; readonly password: string },
  ) {}

  static async create(environment: TestEnvironment, name: string): Promise<Actor> {
    const { clients, resourceServers, users } = environment.fixture;
    const [{ secret, hash }, api] = [generateClientSecret(), generateClientSecret()];
    const key = await DpopKey.generate();
    const redirectUris = ['https://app.example.com/callback?tenant=7', `http://localhost:1/${name}`];
    const scopes = ['profile:read', 'bookings:read', 'bookings:write', 'openid'];
    const rules = { deviceGrant: true };
    const client = { name: `Fuzz ${name}`, scopes, optionalScopes: ['bookings:write'], rules };
    const logo = { mediaType: 'image/png', image: randomBytes(100) } as const;
    const clientId = generateClientId();
    const logoutUris = {
      postLogoutRedirectUris: [POST_LOGOUT_URI],
      backchannelLogoutUri: `${environment.logoutUrl}/${clientId}`,
    };
    const confidential = await clients.create({
      ...client,
      clientId,
      ...logoutUris,
      logo,
      type: 'confidential',
      redirectUris,
      secretHash: hash,
    });
    const nativeUris = ['http://127.0.0.1/callback', 'com.example.fuzz:/callback'];
    // The id of the public client is the URL of its metadata document.
    const { documents } = environment;
    const native = await clients.create({
      ...client,
      clientId: documents.publish(documents.newUrl(), {
        client_name: client.name,
        redirect_uris: nativeUris,
      }),
      documentDueAt: new Date(0),
      type: 'public',
      redirectUris: nativeUris,
      requireState: false,
    });
    const apiClientKey = await ClientKey.generate();
    const apiClient = await clients.create({
      name: `Fuzz ${name}`,
      type: 'confidential',
      redirectUris: [],
      scopes: [...ADMIN_SCOPES],
      ...keysOf(apiClientKey),
      grantType: 'client_credentials',
    });
    const resourceServer = await resourceServers.create(`Fuzz ${name}`, api.hash);
    const password = random();
    const email = `${name}${random(6).toLowerCase()}@example.com`;
    const passwordHash = await hashPassword(password);
    const username = `${name}${randomInt(2 ** 40)}`;
    const user = await users.create({ email, username, name: 'Ada <b>"Fuzz"</b>', passwordHash });
    environment.redirectUris.set(confidential.clientId, redirectUris).set(native.clientId, nativeUris);
    environment.secrets.add('client secret', secret);
    environment.secrets.add('client secret', api.secret);
    environment.secrets.add('password', password);
    environment.secrets.add('private key', String((await crypto.subtle.exportKey('jwk', key.privateKey)).d));
    return new Actor(
      environment,
      { id: confidential.clientId, secret, redirectUris },
      { id: native.clientId, secret: undefined, redirectUris: nativeUris },
      { id: resourceServer.id, secret: api.secret },
      { id: apiClient.clientId, key: apiClientKey },
      String(confidential.logo),
      key,
      await environment.fixture.user(),
      { id: user.id, email, password },
    );
  }

  get urls(): TestEnvironment['urls'] {
    return this.environment.urls;
  }

  client(isPublic: boolean): FuzzClient {
    return isPublic ? this.publicClient : this.confidential;
  }

  async assertion(): Promise<Readonly<Record<string, string>>> {
    const { id, key } = this.apiClient;
    return {
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await key.assertion(id, this.urls.token),
    };
  }

  /** @param bound true to bind the token to the actor's key (RFC 9449) */
  async adminToken(bound: boolean): Promise<string> {
    const known = this.adminTokens.get(bound);
    if (known && known.issuedAt > Date.now() - ADMIN_SHARED_FOR_MS) return known.token;
    const url = `${this.urls.token}${ENDPOINTS.token}`;
    const form = { grant_type: 'client_credentials', ...(await this.assertion()) };
    const answer = await this.submit(url, form, async () =>
      bound ? { DPoP: await this.key.proof('POST', url) } : {},
    );
    const { access_token: token = '' } = (await answer.json()) as { access_token?: string };
    if (!answer.ok) throw new Error(`no token for the console: ${answer.status}`);
    this.environment.secrets.add('access token', token);
    this.adminTokens.set(bound, { token, issuedAt: Date.now() });
    return token;
  }

  /** @param isChanged true to create a resource for this request @returns the ids in the resource's path */
  async target(noun: string, isChanged: boolean): Promise<readonly string[]> {
    const shared = isChanged ? undefined : this.targets.get(noun);
    const target = shared ?? (await this.store(() => this.newTarget(noun)));
    if (!isChanged) this.targets.set(noun, target);
    return target;
  }

  private async newTarget(noun: string): Promise<readonly string[]> {
    const { fixture } = this.environment;
    if (noun === 'users') return [String(await fixture.user())];
    if (noun === 'resource-servers')
      return [(await fixture.resourceServers.create('Fuzz', generateClientSecret().hash)).id];
    if (noun === 'explanations') {
      const refused = (await (await fetch(this.urls.console + ENDPOINTS.admin)).json()) as {
        error_reference: string;
      };
      // The console stores the refusal asynchronously.
      await sleep(1_000);
      return [refused.error_reference];
    }
    if (noun === 'scopes') return ['bookings:read'];
    if (noun === 'operators') {
      const id = await fixture.user();
      await fixture.store(ConsoleOperatorStore).setRole(id, 'viewer');
      return [String(id)];
    }
    if (noun === 'operator-invitations') {
      const email = `${random(6).toLowerCase()}@example.com`;
      const made = await fixture
        .store(ConsoleInvitationStore)
        .create({ email, role: 'viewer', invitedBy: 'fuzz', inviter: null });
      return [made?.id ?? ''];
    }
    if (noun === 'logos') {
      const logo = { mediaType: 'image/png', image: LOGO } as const;
      const redirectUris = ['https://app.example.com/callback'];
      const client = { name: 'Fuzz', type: 'public', scopes: ['profile:read'], redirectUris, logo } as const;
      return [(await fixture.clients.create(client)).clientId];
    }
    if (noun === 'requests')
      return [
        (
          await storeRequest({
            sql: async <Row>(...query: Parameters<typeof fixture.sql>) =>
              (await fixture.sql(...query)) as Row[],
          })
        ).id,
      ];
    const { client_id: clientId } = await fixture.client();
    if (noun.startsWith('event-')) {
      const streams = fixture.store(EventStreamStore);
      await streams.register(clientId, 'https://receiver.example.com/events');
      if (noun === 'event-streams') return [clientId];
      await streams.announceStatus(clientId, 'paused', 'fuzz');
      const delivered = await fixture.sql(
        `UPDATE events SET outcome = 'delivered', finished_at = now()
          WHERE stream_id IN (SELECT id FROM event_streams WHERE client_id = $1) RETURNING jti`,
        [clientId],
      );
      return (delivered as { jti: string }[]).map(({ jti }) => jti);
    }
    const { secrets } = (await fixture.clients.find(clientId)) ?? { secrets: [] };
    if (noun === 'clients') return [clientId, secrets[0]?.id ?? ''];
    return [fixture.grantIdOf(await fixture.code(clientId, await fixture.user())), clientId];
  }

  /** @param isChanged true for a new application of the owner, which the request may change */
  async portal(
    isChanged: boolean,
  ): Promise<{ readonly login: PortalLogin; readonly ids: Readonly<Record<string, string>> }> {
    const { fixture, portal } = this.environment;
    const login = (this.portalLogin ??= await this.store(() => logInToPortal(fixture, portal)));
    if (isChanged) return { login, ids: await this.store(() => this.newOwnedApplication(login.userId)) };
    this.portalIds ??= await this.store(() => this.newOwnedApplication(login.userId));
    return { login, ids: this.portalIds };
  }

  /** Discards the session of the portal. Must be called after a request that ends it. */
  forgetPortal(): void {
    [this.portalLogin, this.portalIds] = [null, null];
  }

  private async newOwnedApplication(userId: number): Promise<Readonly<Record<string, string>>> {
    const { fixture } = this.environment;
    const sql = async <Row>(...query: Parameters<typeof fixture.sql>) =>
      (await fixture.sql(...query)) as Row[];
    const [{ id: request, clientId: id }, { clientId: tested }] = [
      await storeRequest({ sql }),
      await storeRequest({ sql }),
    ];
    const [rows] = await sql<Record<'secret' | 'invitation', string>>(
      `WITH owner AS (INSERT INTO client_owners (client_id, user_id) VALUES ($1, $2)),
         tester AS (INSERT INTO client_testers (client_id, user_id) VALUES ($3, $2)),
         secret AS (INSERT INTO client_secrets (client_id, hash) VALUES ($1, sha256(convert_to($1, 'UTF8'))) RETURNING id),
         invitation AS (INSERT INTO client_invitations (client_id, kind, token_hash, invited_by, expires_at)
           VALUES ($1, 'tester', sha256(convert_to($1, 'UTF8')), $2, now() + interval '1 day') RETURNING id)
       SELECT secret.id AS secret, invitation.id AS invitation FROM secret, invitation`,
      [id, userId, tested],
    );
    return {
      applications: id,
      requests: request,
      tests: tested,
      kind: 'owner',
      step: 'exchange',
      jti: randomUUID(),
      member: String(userId),
      ...rows,
    };
  }

  newSecret(kind: SecretKind, bytes = 32): string {
    const value = random(bytes);
    this.environment.secrets.add(kind, value);
    return value;
  }

  address(): string {
    return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  }

  async code({
    isPublic,
    bound,
  }: GrantKind): Promise<{ code: string; verifier: string; redirectUri: string }> {
    const { id, redirectUris } = this.client(isPublic);
    const verifier = this.newSecret('code verifier');
    const [redirectUri = ''] = redirectUris;
    const challenge = challengeOf(verifier) ?? '';
    const scope = `profile:read bookings:read${isPublic ? '' : ' openid'}`;
    const login = isPublic ? {} : this.newLogin(this.owner);
    const pending = { redirectUri, challenge, scope, ...login, ...(bound && { jkt: this.key.jkt }) };
    const code = await this.store(() => this.environment.fixture.code(id, this.owner, pending));
    this.environment.secrets.add('code', code);
    return { code, verifier, redirectUri };
  }

  async device(isPublic: boolean, approved: boolean): Promise<{ deviceCode: string; userCode: string }> {
    const { id, secret } = this.client(isPublic);
    const answer = await this.submit(this.urls.token + ENDPOINTS.deviceAuthorization, {
      client_id: id,
      scope: 'profile:read',
      ...(secret !== undefined && { client_secret: secret }),
    });
    const { device_code: deviceCode = '', user_code: userCode = '' } = (await answer.json()) as Record<
      string,
      string
    >;
    this.environment.secrets.add('device code', deviceCode);
    if (approved) {
      const Cookie = await this.session();
      const form = {
        csrf_token: this.csrf(Cookie, 'consent'),
        decision: 'allow',
        required_scopes: 'profile:read',
      };
      const url = `${this.urls.authorize}${ENDPOINTS.deviceDecision}?to=device&user_code=${userCode}`;
      await this.submit(url, form, async () => ({ Cookie }));
    }
    return { deviceCode, userCode };
  }

  /** Returns a token for the event stream of the confidential client, and the stream, which another lane may delete. */
  async eventStream(): Promise<{ token: string; streamId: string }> {
    const { id, secret = '' } = this.confidential;
    const answer = await this.submit(this.urls.token + ENDPOINTS.token, {
      grant_type: 'client_credentials',
      scope: 'ssf.read ssf.manage',
      client_id: id,
      client_secret: secret,
    });
    const { access_token: token = '' } = (await answer.json()) as Record<string, string>;
    this.environment.secrets.add('access token', token);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const url = this.urls.token + ENDPOINTS.eventStream;
    await fetch(url, { method: 'POST', headers, body: '{}' });
    const [stream] = (await (await fetch(url, { headers })).json()) as { stream_id: string }[];
    return { token, streamId: stream?.stream_id ?? '00000000-0000-4000-8000-000000000000' };
  }

  async connect(): Promise<void> {
    const { fixture, secrets } = this.environment;
    const pending = { scope: 'profile:read openid', ...this.newLogin(this.user.id) };
    secrets.add('code', await this.store(() => fixture.code(this.confidential.id, this.user.id, pending)));
  }

  /** Creates a login for the oracle, which compares ID tokens with it. */
  private newLogin(userId: number) {
    const [session, nonce] = [random(), random()];
    this.environment.logins.add(session, { clientId: this.confidential.id, userId, nonce });
    return { login: { authTime: null, session }, idToken: { nonce } };
  }

  /** @param use `take` removes the pair from the pool, for a request that may invalidate it */
  async pair(kind: GrantKind, use: 'share' | 'take'): Promise<TokenPair> {
    const { id } = this.client(kind.isPublic);
    const oldest = Date.now() - SHARED_FOR_MS;
    this.pairs = this.pairs.filter(({ issuedAt }) => issuedAt > oldest);
    const at = this.pairs.findIndex(({ client, bound }) => client.id === id && bound === kind.bound);
    const pair = this.pairs[at] ?? (await this.exchange(kind));
    if (use === 'share' && at < 0) this.pairs.push(pair);
    if (use === 'take' && at >= 0) this.pairs.splice(at, 1);
    return pair;
  }

  async session(): Promise<string> {
    this.cookie ??= await this.logIn();
    return this.cookie;
  }

  /** Discards the session. Must be called after a request that may have ended it. */
  forgetSession(): void {
    this.cookie = null;
  }

  csrf(cookies: string, purpose: FormPurpose): string {
    const token = csrfToken(/session=([\w-]{43})/.exec(cookies)?.[1] ?? '', purpose);
    this.environment.secrets.add('csrf token', token);
    return token;
  }

  /** Retires credentials that valid requests no longer use. */
  retire(...credentials: string[]): void {
    this.retired.push(...credentials);
    while (this.retired.length > MAX_RETIRED) this.retired.shift();
  }

  retiredCredential(pick: number): string {
    return this.retired[pick % this.retired.length] ?? this.confidential.secret ?? '';
  }

  collectSecrets(answer: Answer): void {
    const { secrets } = this.environment;
    const text = answer.body.toString('latin1');
    for (const [code] of text.matchAll(/\bsdc_[\w-]+/g)) {
      secrets.add('device code', code);
      this.retire(code);
    }
    for (const [token] of text.matchAll(/\bs[ar]t_[\w-]+/g)) {
      secrets.add(token.startsWith('sat') ? 'access token' : 'refresh token', token);
      this.retire(token);
    }
    for (const [, signature = ''] of text.matchAll(/"id_token":"[\w-]+\.[\w-]+\.([\w-]+)"/g))
      secrets.add('ID token', signature);
    const code = /[?&]code=(sac_[\w-]+)/.exec(locationOf(answer) ?? '')?.[1];
    if (code !== undefined) {
      secrets.add('code', code);
      this.retire(code);
    }
    const cookies = header(answer, 'set-cookie') ?? '';
    for (const [, value = ''] of cookies.matchAll(/(?:session|device)=([\w.-]+)/g))
      secrets.add('cookie', value);
    const requestUri = /"request_uri":"([\w:-]+)"/.exec(text)?.[1];
    if (requestUri !== undefined) secrets.add('request URI', requestUri);
  }

  private async exchange(kind: GrantKind): Promise<TokenPair> {
    const client = this.client(kind.isPublic);
    const { code, verifier, redirectUri } = await this.code(kind);
    const url = `${this.environment.urls.token}/api/auth/oauth/token`;
    const answer = await this.submit(
      url,
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        client_id: client.id,
        ...(client.secret !== undefined && { client_secret: client.secret }),
      },
      async () => (kind.bound ? { DPoP: await this.key.proof('POST', url) } : {}),
    );
    const pair = (await answer.json()) as Record<'access_token' | 'refresh_token', string> & {
      id_token?: string;
    };
    if (!answer.ok) throw new Error(`a code was not exchanged: ${JSON.stringify(pair)}`);
    const { access_token: access, refresh_token: refresh, id_token: idToken } = pair;
    if (idToken !== undefined) this.environment.secrets.add('ID token', idToken.split('.')[2] ?? '');
    this.environment.secrets.add('access token', access);
    this.environment.secrets.add('refresh token', refresh);
    return { client, access, refresh, idToken, bound: kind.bound, issuedAt: Date.now() };
  }

  private async logIn(): Promise<string> {
    const before = `oauth_service_session=${this.newSecret('cookie')}`;
    const { email, password } = this.user;
    const form = { csrf_token: this.csrf(before, 'login'), username: email, password };
    const url = `${this.environment.urls.authorize}/auth/login`;
    const answer = await this.submit(url, form, async () => ({ Cookie: before }));
    const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
    if (answer.status !== 200) throw new Error(`a login was answered ${answer.status}`);
    for (const cookie of cookies)
      this.environment.secrets.add('cookie', cookie.slice(cookie.indexOf('=') + 1));
    return cookies.join('; ');
  }

  private async store<T>(write: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await write();
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) throw error;
        await sleep(1_000);
      }
    }
  }

  /** Retries on 503, because the product may be overloaded on a busy machine. */
  async submit(
    url: string,
    form: Readonly<Record<string, string>>,
    headers: () => Promise<Record<string, string>> = async () => ({}),
  ): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'X-Forwarded-For': this.address(), ...(await headers()) },
        body: new URLSearchParams(form),
      });
      if (answer.status !== 503 || attempt === MAX_ATTEMPTS) return answer;
      await answer.arrayBuffer();
      await sleep(1_000);
    }
  }
}
