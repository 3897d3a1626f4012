import request from 'supertest';
import { ASSERTION_TYPE, ClientKey, keysOf } from '#test/support/keys.js';
import type { TestClient } from '#test/support/fixture.js';
import { type ResourceApp, startResourceApp } from '../support/start-resource-app.js';

const API = 'https://api.example.com';
const BOOKINGS = 'https://bookings.example.com:8443';
const HAS_AUDIENCE = 0x40;
const FIELDS = 34;
const MAC = 29;

type Server = Parameters<typeof request>[0];

let app: ResourceApp;
let api: Server;
let bookings: Server;
let client: TestClient;
let userId: number;

beforeAll(async () => {
  app = await startResourceApp({ CONSOLE_URL: 'https://console.example.com' });
  api = app.server;
  bookings = await app.anotherApi(BOOKINGS);
  [client, userId] = [await app.client(), await app.user()];
});
afterAll(() => app.close());

const pairFor = (...apis: string[]) => app.pair(client, userId, 'profile:read', apis.join(' ') || undefined);
const at = (server: Server, token: string) =>
  request(server).get('/v2/me').set('Authorization', `Bearer ${token}`);

async function expectRefused(server: Server, token: string): Promise<void> {
  const answer = await at(server, token);
  expect(answer.status).toBe(401);
  expect(answer.headers['www-authenticate']).toContain('Bearer error="invalid_token"');
  expect(JSON.stringify(answer.body)).not.toContain('Ada');
}

// @rfc 8707 2 @rfc 9700 2.3
describe('an access token for one API', () => {
  it('is accepted at this API, and refused with invalid_token at another API', async () => {
    const { access_token } = await pairFor(BOOKINGS);
    for (let round = 0; round < 3; round += 1) {
      await expectRefused(api, access_token);
      await at(bookings, access_token).expect(200);
    }
    const { access_token: other } = await pairFor(API);
    await at(api, other).expect(200);
    await expectRefused(bookings, other);
  });

  it('is refused at another API of its grant if the refresh requested only one API', async () => {
    const { access_token, refresh_token } = await pairFor(API, BOOKINGS);
    for (const server of [api, bookings]) await at(server, access_token).expect(200);
    const narrow = await app.narrowedTo(client, refresh_token, BOOKINGS);
    await at(bookings, narrow.access_token).expect(200);
    await expectRefused(api, narrow.access_token);
    // The token that was issued before the refresh keeps its APIs.
    await at(api, access_token).expect(200);
  });

  it('keeps its audience when Redis loses the grant, and after the grant is restored', async () => {
    const { access_token, refresh_token } = await pairFor(BOOKINGS);
    await app.redis.flushdb();
    await expectRefused(api, access_token);
    await at(bookings, access_token).expect(200);
    await app.redis.flushdb();
    const next = await app.narrowedTo(client, refresh_token, BOOKINGS);
    await expectRefused(api, next.access_token);
  });

  it('is invalid if its audience is removed or replaced, regardless of its flags', async () => {
    const { access_token } = await pairFor(BOOKINGS);
    const { access_token: plain } = await pairFor();
    const bytes = Buffer.from(access_token.slice(4), 'base64url');
    const fields = bytes.subarray(0, FIELDS);
    const mac = bytes.subarray(-MAC);
    const unflagged = Buffer.from(fields);
    unflagged.writeUInt8(fields.readUInt8(21) & ~HAS_AUDIENCE, 21);
    const named = Buffer.from(`${API} `);
    const macOfPlain = Buffer.from(plain.slice(4), 'base64url').subarray(FIELDS);
    for (const parts of [
      [unflagged, mac],
      [fields, mac],
      [fields, named, mac],
      [unflagged, named, mac],
      [unflagged, macOfPlain],
      [fields, bytes.subarray(FIELDS, -MAC), named, mac],
      [unflagged, bytes.subarray(FIELDS)],
    ])
      for (const server of [api, bookings])
        await expectRefused(server, `sat_${Buffer.concat(parts).toString('base64url')}`);
    await at(bookings, access_token).expect(200);
  });

  it('is refused if one of its bytes is changed', async () => {
    const { access_token } = await pairFor(BOOKINGS);
    for (let position = 0; position < Buffer.from(access_token.slice(4), 'base64url').length; position += 3) {
      const bytes = Buffer.from(access_token.slice(4), 'base64url');
      bytes.writeUInt8(bytes.readUInt8(position) ^ 0x40, position);
      await expectRefused(bookings, `sat_${bytes.toString('base64url')}`);
    }
    await at(bookings, access_token).expect(200);
  });
});

describe('an access token without an audience', () => {
  it('is accepted at every API', async () => {
    const { access_token } = await pairFor();
    for (const server of [api, bookings]) await at(server, access_token).expect(200);
  });
});

// @rfc 8707 2 @rfc 9700 2.3
describe('the access token of an API client (RFC 6749 4.4)', () => {
  let token: string;

  beforeAll(async () => {
    const key = await ClientKey.generate();
    const { clientId } = await app.clients.create({
      name: 'Terraform',
      type: 'confidential',
      scopes: ['admin:read', 'admin:write'],
      redirectUris: [],
      ...keysOf(key),
      grantType: 'client_credentials',
    });
    const answer = await request(app.tokenUrl())
      .post('/api/auth/oauth/token')
      .send({
        grant_type: 'client_credentials',
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: await key.assertion(clientId, 'https://base.example.com'),
      });
    ({ access_token: token } = answer.body as { access_token: string });
  });

  it.each(['/v2/me', '/userinfo'])('is refused at %s, like a token for another API', async (path) => {
    expect(token).toMatch(/^sat_/);
    const answer = await request(api).get(path).auth(token, { type: 'bearer' });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
  });
});
