import fc from 'fast-check';
import { CLIENT_CHANGES, NEW_CLIENT, NEW_RESOURCE_SERVER, NEW_USER } from '../../src/api/schemas.js';
import { type AdminApi, startAdminApi } from '../support/start-console-app.js';

let api: AdminApi;

beforeAll(async () => {
  api = await startAdminApi();
});

// Without this reset, most requests would exceed the rate limit.
beforeEach(async () => {
  await api.console.resetRateLimits();
});

afterAll(() => api.close());

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('https://a.example', ['https://a.example/callback'], 'fapi2', '\0', '', -1, 2 ** 53),
);
const bodyOf = (...members: readonly string[]) => fc.dictionary(fc.constantFrom(...members), value);
const membersOf = ({ properties = {} }: { readonly properties?: object }) => Object.keys(properties);
const id = fc.oneof(
  fc.constantFrom('1', '-1', '99999999999', '%00', '%2e%2e', 'a b', '(', ':id'),
  fc.string(),
);
const names = [
  'search',
  'limit',
  'cursor',
  'user',
  'client',
  'ended',
  'types',
  'since',
  'until',
  'skip',
  'grant',
];

it.each<[string, string, string, fc.Arbitrary<object>]>([
  ['registers an application', 'post', '/clients', bodyOf(...membersOf(NEW_CLIENT))],
  ['changes an application', 'patch', '/clients/ID', bodyOf(...membersOf(CLIENT_CHANGES))],
  ['creates a user', 'post', '/users', bodyOf(...membersOf(NEW_USER))],
  ['registers an API', 'post', '/resource-servers', bodyOf(...membersOf(NEW_RESOURCE_SERVER))],
  ['revokes grants', 'post', '/grants/revoke', bodyOf('user', 'client', 'id')],
])('no body that %s causes a server error', async (_, method, path, bodies) => {
  const { client_id: clientId } = await api.fixture.client();
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const { status } = await api.call(method, path.replace('ID', clientId), {
        body,
        headers: { 'If-Match': '*' },
      });
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 100 },
  );
});

it.each(['constructor', 'to_string', '__proto__'])(
  'the member %s, which every object inherits, is refused',
  async (name) => {
    const type = { 'Content-Type': 'application/json' };
    for (const value of [null, {}, 'x']) {
      const body = `{"name":"Rooms","${name}":${JSON.stringify(value)}}` as unknown as object;
      const { status, body: problem } = await api.call('post', '/resource-servers', { headers: type, body });
      expect([status, problem.errors?.[0].id]).toEqual([400, 'unknown_field']);
    }
  },
);

it.each(['/clients', '/users', '/grants', '/events', '/doctor'])(
  'no query of %s causes a server error',
  async (path) => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), fc.string()), async (query) => {
        const { status } = await api.call('get', `${path}?${new URLSearchParams(query).toString()}`);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: path === '/doctor' ? 3 : 40 },
    );
  },
);

it('no id in a path causes a server error', async () => {
  const paths = [
    '/clients/ID',
    '/clients/ID/secrets',
    '/users/ID',
    '/grants/ID',
    '/resource-servers/ID',
    '/explanations/ID',
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), id, async (path, text) => {
      const safe = text.startsWith('%') ? text : encodeURIComponent(text);
      expect(
        (
          await api.call(
            'get',
            path.replace('ID', () => safe),
          )
        ).status,
      ).toBeLessThan(500);
    }),
    { numRuns: 100 },
  );
});
