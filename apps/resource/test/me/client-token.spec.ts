import request from 'supertest';
import { ASSERTION_TYPE, ClientKey, keysOf } from '#test/support/client-key.js';
import { startReplicas } from '../support/replicas.js';

let bench: Awaited<ReturnType<typeof startReplicas>>;
let token: string;

beforeAll(async () => {
  bench = await startReplicas(1);
  const key = await ClientKey.generate();
  const { clientId } = await bench.clients.create({
    name: 'Terraform',
    type: 'confidential',
    scopes: ['admin:read', 'admin:write'],
    redirectUris: [],
    keys: keysOf(key),
    rules: { grantType: 'client_credentials' },
  });
  const answer = await request(bench.tokenApp?.url ?? '')
    .post('/api/auth/oauth/token')
    .send({
      grant_type: 'client_credentials',
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await key.assertion(clientId, 'https://base.example.com'),
    });
  ({ access_token: token } = answer.body as { access_token: string });
});

afterAll(() => bench.close());

// @rfc 8707 2 @rfc 9700 2.3
describe('the access token of an API client (RFC 6749 4.4)', () => {
  it.each(['/v2/me', '/userinfo'])('is refused at %s, like any token for another API', async (path) => {
    expect(token).toMatch(/^sat_/);
    const answer = await request(bench.replicas[0]?.url ?? '')
      .get(path)
      .auth(token, { type: 'bearer' });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
  });
});
