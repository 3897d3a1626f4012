import { randomInt } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Response } from 'supertest';
import { GrantStore } from '#grants/grant.store.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { sessionIdFor } from '#oauth/openid/id-token.js';
import { ID_TOKEN_KEYS } from '#test/support/id-token-keys.js';
import { useTokenApp } from '../support/use-token-app.js';

const app = useTokenApp({ ID_TOKEN_KEYS });

const LOGIN = { authTime: 1_700_000_000, session: 'b'.repeat(43) };

let clientId: string;

beforeAll(async () => {
  const client = await app.clients.create({
    name: 'Room display',
    type: 'public',
    scopes: ['openid', 'email', 'profile:read'],
    redirectUris: [],
    rules: { deviceGrant: true },
  });
  clientId = client.clientId;
});

async function approved(scope: string, more: object = {}): Promise<() => Promise<Response>> {
  const started = await app.post('device_authorization', { client_id: clientId, scope, ...more });
  expect(started.status).toBe(200);
  const { device_code: deviceCode } = started.body as { device_code: string };
  const id = app.grantIdOf(deviceCode);
  const login = scope.includes('openid') ? LOGIN : null;
  const grant = { clientId, userId: app.userId, scope, resources: null, login };
  await app.records.create({ id, ...grant, requestedScope: scope, expiresAt: new Date(Date.now() + 1e9) });
  await new GrantStore(app.redis).approve(id, { ...grant, externalId: null }, Date.now());
  const poll = { grant_type: DEVICE_CODE, device_code: deviceCode, client_id: clientId };
  return () => app.post('token', poll).then((answer) => answer);
}

const idTokenOf = ({ body }: Response) => decodeJwt(String(body.id_token));

// @rfc 8628 3.5 @openid core 2
it('a device with the openid scope gets an ID token for the login of the user who approved it', async () => {
  const answer = await (await approved('openid profile:read'))();
  expect(answer.status).toBe(200);
  expect(idTokenOf(answer)).toMatchObject({
    iss: 'https://base.example.com',
    sub: String(app.userId),
    aud: clientId,
    auth_time: LOGIN.authTime,
    sid: sessionIdFor(clientId, LOGIN.session),
  });
});

it('a device cannot choose the nonce and claims of its ID token', async () => {
  const claims = JSON.stringify({ id_token: { email: null, sub: { value: String(randomInt(1e9)) } } });
  const answer = await (await approved('openid email', { nonce: 'chosen', claims }))();
  const token = idTokenOf(answer);
  expect(token.sub).toBe(String(app.userId));
  expect(token).not.toHaveProperty('nonce');
  expect(token).not.toHaveProperty('email');
});

it('a device that polls again after a lost response gets an ID token of the same login', async () => {
  const poll = await approved('openid');
  const [first, second] = [idTokenOf(await poll()), idTokenOf(await poll())];
  expect(second).toEqual(first);
});

it('a device without the openid scope gets no ID token', async () => {
  const answer = await (await approved('profile:read'))();
  expect(answer.status).toBe(200);
  expect(answer.body).not.toHaveProperty('id_token');
});
