import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { SIGNING_KEYS } from '#test/support/id-token-keys.js';

export interface LogoutClaims {
  readonly sub: string;
  readonly jti: string;
  readonly sid?: string;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Server for all back-channel log-out URIs (section 2.6 of OpenID Connect Back-Channel Logout 1.0). */
export interface LogoutReceiver {
  readonly url: string;
  /** Expected `iss`; must be set before the first log-out. */
  issuer: string;
  onToken: (claims: LogoutClaims) => void;
  onInvalid: (reason: string) => void;
  close(): void;
}

export async function startLogoutReceiver(): Promise<LogoutReceiver> {
  const keys = createLocalJWKSet(SIGNING_KEYS.jwks as JSONWebKeySet);
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const token = new URLSearchParams(body).get('logout_token') ?? '';
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer: receiver.issuer,
          // The request path is the client id.
          audience: (request.url ?? '').slice(1),
          typ: 'logout+jwt',
          requiredClaims: ['sub', 'iat', 'exp', 'jti', 'events'],
        });
        if ('nonce' in payload || !(EVENT in (payload['events'] as object)))
          throw new Error('it is not a logout token');
        const { sub = '', jti = '', sid } = payload;
        receiver.onToken({ sub, jti, ...(typeof sid === 'string' && { sid }) });
      } catch (error) {
        receiver.onInvalid(error instanceof Error ? error.message : String(error));
      }
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const receiver: LogoutReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    issuer: '',
    onToken: () => undefined,
    onInvalid: () => undefined,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receiver;
}
