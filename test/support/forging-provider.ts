import { createHash, generateKeyPair } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { exportJWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { type Browser, targetOf } from './browser.js';
import { serve } from './http-server.js';

const newRsaKey = promisify(generateKeyPair);

export const FORGER_CLIENT = { id: 'scheduling', secret: 'a secret of the client' } as const;

export interface Forgery {
  claims?: JWTPayload;
  header?: Partial<JWTHeaderParameters>;
  idToken?: (valid: string) => string | undefined;
  userInfo?: Record<string, unknown>;
  accessToken?: string;
  /** Replaces the response of the token endpoint. */
  token?: (response: ServerResponse) => void;
}

/** Shared by all providers, because generating an RSA key takes 0.2 s. */
let firstKey: ReturnType<typeof newKey> | undefined;

export async function startForgingProvider(port: number) {
  const issuer = `http://localhost:${port}`;
  const keys = [await (firstKey ??= newKey('first'))];
  const state = {
    forgery: {} as Forgery,
    exchanges: 0,
    revoked: [] as (string | null)[],
    canRevoke: true,
    metadata: {} as Record<string, unknown>,
    isDown: false,
    /** Responds to other paths in place of the metadata. */
    others: null as ((request: IncomingMessage, response: ServerResponse) => void) | null,
  };
  const requests = new Map<string, URLSearchParams>();

  async function sign(claims: JWTPayload, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const key = keys.at(-1);
    if (!key) throw new Error('no key');
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
      .sign(key.privateKey);
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { forgery } = state;
    const form = new URLSearchParams(await text(request));
    state.exchanges += 1;
    if (forgery.token) return forgery.token(response);
    const requested = requests.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const credentials = [FORGER_CLIENT.id, FORGER_CLIENT.secret].map((part) =>
      encodeURIComponent(part).replaceAll('%20', '+'),
    );
    const basic = `Basic ${Buffer.from(credentials.join(':')).toString('base64')}`;
    if (challenge !== requested?.get('code_challenge') || request.headers.authorization !== basic)
      return json(response, 400, { error: 'invalid_grant' });
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: FORGER_CLIENT.id,
      sub: 'ada',
      iat: now,
      exp: now + 60,
      nonce: requested.get('nonce') ?? '',
      email: 'ada@example.com',
      ...forgery.claims,
    };
    const valid = await sign(claims, forgery.header);
    const idToken = forgery.idToken ? forgery.idToken(valid) : valid;
    const { accessToken = 'an-access-token' } = forgery;
    json(response, 200, { access_token: accessToken, token_type: 'Bearer', id_token: idToken });
  }

  async function revoke(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!state.canRevoke) return json(response, 503, {});
    state.revoked.push(new URLSearchParams(await text(request)).get('token'));
    response.end();
  }

  const { close } = await serve((request, response) => {
    if (state.isDown) return void response.destroy();
    const { pathname } = new URL(request.url ?? '', issuer);
    if (pathname === '/token') return void token(request, response);
    if (pathname === '/revoke') return void revoke(request, response);
    if (pathname === '/authorize') {
      const { origin } = new URL(new URL(request.url ?? '', issuer).searchParams.get('redirect_uri') ?? '');
      return void response.writeHead(303, { Location: origin + answer(`${issuer}${request.url}`) }).end();
    }
    if (pathname === '/jwks') return json(response, 200, { keys: keys.map(({ jwk }) => jwk) });
    if (pathname === '/userinfo')
      return json(response, 200, { sub: state.forgery.claims?.sub ?? 'ada', ...state.forgery.userInfo });
    if (state.others && !pathname.startsWith('/.well-known/')) return state.others(request, response);
    return json(response, 200, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      revocation_endpoint: `${issuer}/revoke`,
      authorization_response_iss_parameter_supported: true,
      ...state.metadata,
    });
  }, port);

  /** Creates an authorization response. @param location redirect to the provider @returns path of the callback */
  function answer(location: string | undefined, more: Record<string, string> = {}): string {
    const requested = new URL(location ?? '').searchParams;
    const code = `code${requests.size}`;
    requests.set(code, requested);
    const parameters = { code, state: requested.get('state') ?? '', iss: issuer, ...more };
    const { pathname } = new URL(requested.get('redirect_uri') ?? '');
    return `${pathname}?${new URLSearchParams(parameters).toString()}`;
  }

  return {
    issuer,
    state,
    sign,
    answer,
    async logIn(browser: Browser, forgery: Forgery = {}, address = '/auth/login') {
      state.forgery = forgery;
      const started = await browser.get(address);
      return browser.get(answer(targetOf(started)));
    },
    async rotate(kid = 'second'): Promise<void> {
      keys.splice(0, keys.length, await newKey(kid));
    },
    close,
  };
}

export type ForgingProvider = Awaited<ReturnType<typeof startForgingProvider>>;

async function newKey(kid: string) {
  // Not a CryptoKey, which signs with only one algorithm.
  const { privateKey, publicKey } = await newRsaKey('rsa', { modulusLength: 2048 });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
