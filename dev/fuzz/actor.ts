import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { csrfToken, type FormPurpose } from '../../apps/authorize/src/session/csrf.guard.js';
import { type Answer, header } from './wire.js';
import type { SecretKind } from './leaks.js';
import type { World } from './world.js';
import { generateClientSecret } from '#oauth/client.js';
import { hashPassword } from '#database/user/password.js';
import { challengeOf } from '#oauth/pkce.js';
import { DpopKey } from '#testing/dpop-key.js';

export interface FuzzClient {
  readonly id: string;
  /** Undefined for a public client. */
  readonly secret: string | undefined;
  readonly redirectUris: readonly string[];
}

/** A live grant's newest tokens. */
export interface TokenPair {
  readonly client: FuzzClient;
  readonly access: string;
  readonly refresh: string;
  /** Whether they are bound to the actor's key (RFC 9449). */
  readonly bound: boolean;
}

/** What of a grant a request is about. */
export interface GrantKind {
  readonly isPublic: boolean;
  readonly bound: boolean;
}

const random = (size = 24) => randomBytes(size).toString('base64url');
/** Old credentials that are kept to be sent where they do not belong. */
const KEPT = 60;
const PATIENCE = 10;

/**
 * An application with its users: what is needed to make requests that are good. Each has its own, so that what one of them
 * does makes no request of another one bad. What a request may have spoiled is not used for a good one again.
 */
export class Actor {
  /** Fresh from a code of their own: nothing else of their grants is known to any other request. */
  private readonly pairs: TokenPair[] = [];
  private readonly spent: string[] = [];
  private cookie: string | null = null;

  private constructor(
    readonly world: World,
    readonly confidential: FuzzClient,
    readonly publicClient: FuzzClient,
    readonly resourceServer: { readonly id: string; readonly secret: string },
    readonly logo: string,
    readonly key: DpopKey,
    /** Whose grants the token endpoints are asked about; nobody logs in as them. */
    private readonly owner: number,
    readonly person: { readonly id: number; readonly email: string; readonly password: string },
  ) {}

  static async create(world: World, name: string): Promise<Actor> {
    const { clients, resourceServers, users } = world.fixture;
    const [{ secret, hash }, api] = [generateClientSecret(), generateClientSecret()];
    const key = await DpopKey.generate();
    const redirectUris = ['https://app.example.com/callback?tenant=7', `http://localhost:1/${name}`];
    const scopes = ['profile:read', 'bookings:read', 'bookings:write'];
    const client = { name: `Fuzz ${name}`, scopes, optionalScopes: ['bookings:write'] };
    const logo = { mediaType: 'image/png', image: randomBytes(100) } as const;
    const ours = await clients.create({
      ...client,
      logo,
      type: 'confidential',
      redirectUris,
      secretHash: hash,
    });
    const nativeUris = ['http://127.0.0.1/callback', 'com.example.fuzz:/callback'];
    const native = await clients.create({ ...client, type: 'public', redirectUris: nativeUris });
    const resourceServer = await resourceServers.create(`Fuzz ${name}`, api.hash);
    const password = random();
    const email = `${name}${random(6).toLowerCase()}@example.com`;
    const passwordHash = await hashPassword(password);
    const username = `${name}${randomInt(2 ** 40)}`;
    const person = await users.create({ email, username, name: 'Ada <b>"Fuzz"</b>', passwordHash });
    world.redirectUris.set(ours.clientId, redirectUris).set(native.clientId, nativeUris);
    world.secrets.add('client secret', secret);
    world.secrets.add('client secret', api.secret);
    world.secrets.add('password', password);
    world.secrets.add('private key', String((await crypto.subtle.exportKey('jwk', key.privateKey)).d));
    return new Actor(
      world,
      { id: ours.clientId, secret, redirectUris },
      { id: native.clientId, secret: undefined, redirectUris: nativeUris },
      { id: resourceServer.id, secret: api.secret },
      String(ours.logo),
      key,
      await world.fixture.user(),
      { id: person.id, email, password },
    );
  }

  get urls(): World['urls'] {
    return this.world.urls;
  }

  client(isPublic: boolean): FuzzClient {
    return isPublic ? this.publicClient : this.confidential;
  }

  /** A value that nobody else has seen. */
  fresh(kind: SecretKind, bytes = 32): string {
    const value = random(bytes);
    this.world.secrets.add(kind, value);
    return value;
  }

  /** The address of a client, as the proxy before the product tells it. */
  address(): string {
    return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  }

  /** A code that nobody has redeemed, and what redeems it. */
  async code({
    isPublic,
    bound,
  }: GrantKind): Promise<{ code: string; verifier: string; redirectUri: string }> {
    const { id, redirectUris } = this.client(isPublic);
    const verifier = this.fresh('code verifier');
    const [redirectUri = ''] = redirectUris;
    const challenge = challengeOf(verifier) ?? '';
    const scope = 'profile:read bookings:read';
    const pending = { redirectUri, challenge, scope, ...(bound && { jkt: this.key.jkt }) };
    const code = await this.store(() => this.world.fixture.code(id, this.owner, pending));
    this.world.secrets.add('code', code);
    return { code, verifier, redirectUri };
  }

  /** Has the person allow the client something, so that there is something to revoke. */
  async connect(): Promise<void> {
    const { fixture, secrets } = this.world;
    secrets.add('code', await this.store(() => fixture.code(this.confidential.id, this.person.id)));
  }

  /** A valid pair of tokens. `take` removes it from the pool, for requests that may revoke it. */
  async pair(kind: GrantKind, use: 'look' | 'take'): Promise<TokenPair> {
    const { id } = this.client(kind.isPublic);
    const at = this.pairs.findIndex(({ client, bound }) => client.id === id && bound === kind.bound);
    const pair = this.pairs[at] ?? (await this.exchange(kind));
    if (use === 'look' && at < 0) this.pairs.push(pair);
    if (use === 'take' && at >= 0) this.pairs.splice(at, 1);
    return pair;
  }

  /** The cookies of somebody who is logged in. */
  async session(): Promise<string> {
    this.cookie ??= await this.logIn();
    return this.cookie;
  }

  /** After whatever may have ended it. */
  forgetSession(): void {
    this.cookie = null;
  }

  /** The hidden field of a form that was given to a browser with this Cookie header. */
  csrf(cookies: string, purpose: FormPurpose): string {
    const token = csrfToken(/session=([\w-]{43})/.exec(cookies)?.[1] ?? '', purpose);
    this.world.secrets.add('csrf token', token);
    return token;
  }

  /** From here on this may be sent where it does not belong: no good request needs it, nor another one of its grant. */
  retire(...credentials: string[]): void {
    this.spent.push(...credentials);
    while (this.spent.length > KEPT) this.spent.shift();
  }

  /** A credential to be sent where it does not belong. */
  old(pick: number): string {
    return this.spent[pick % this.spent.length] ?? this.confidential.secret ?? '';
  }

  /** Takes in the credentials of an answer. */
  learn(answer: Answer): void {
    const { secrets } = this.world;
    const text = answer.body.toString('latin1');
    for (const [token] of text.matchAll(/\bs[ar]t_[\w-]+/g)) {
      secrets.add(token.startsWith('sat') ? 'access token' : 'refresh token', token);
      this.retire(token);
    }
    const code = /[?&]code=(sac_[\w-]+)/.exec(header(answer, 'location') ?? '')?.[1];
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
    const url = `${this.world.urls.token}/api/auth/oauth/token`;
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
    const pair = (await answer.json()) as Record<'access_token' | 'refresh_token', string>;
    if (!answer.ok) throw new Error(`a code was not exchanged: ${JSON.stringify(pair)}`);
    const { access_token: access, refresh_token: refresh } = pair;
    this.world.secrets.add('access token', access);
    this.world.secrets.add('refresh token', refresh);
    return { client, access, refresh, bound: kind.bound };
  }

  private async logIn(): Promise<string> {
    const before = `session=${this.fresh('cookie')}`;
    const { email, password } = this.person;
    const form = { csrf_token: this.csrf(before, 'login'), username: email, password };
    const url = `${this.world.urls.authorize}/auth/login`;
    const answer = await this.submit(url, form, async () => ({ Cookie: before }));
    const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
    if (answer.status !== 303) throw new Error(`a login was answered ${answer.status}`);
    for (const cookie of cookies) this.world.secrets.add('cookie', cookie.slice(cookie.indexOf('=') + 1));
    return cookies.join('; ');
  }

  /** Past the product, into its stores. */
  private async store<T>(write: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await write();
      } catch (error) {
        if (tries === PATIENCE) throw error;
        await sleep(1_000);
      }
    }
  }

  /** Sends a good form that a request needs first, again while the product is busy: a machine that does much else may make it so. */
  async submit(
    url: string,
    form: Readonly<Record<string, string>>,
    headers: () => Promise<Record<string, string>> = async () => ({}),
  ): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
      const answer = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'X-Forwarded-For': this.address(), ...(await headers()) },
        body: new URLSearchParams(form),
      });
      if (answer.status !== 503 || tries === PATIENCE) return answer;
      await answer.arrayBuffer();
      await sleep(1_000);
    }
  }
}
