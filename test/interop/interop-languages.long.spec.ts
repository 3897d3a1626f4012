import { fileURLToPath } from 'node:url';
import { findLibraries, PACKAGES, reportSkipped, type WantedLibrary } from '../support/foreign-library.js';
import { until } from '../support/until.js';
import {
  allow,
  createResourceServer,
  type RunningProduct,
  startProduct,
  withStores,
} from '../end-to-end/running-product.js';
import { Dialogue } from './dialogue.js';

const LIBRARIES: readonly (WantedLibrary & { name: string; program: string })[] = [
  {
    name: 'Authlib for Python',
    program: 'authlib-client.py',
    interpreter: 'python3',
    packages: PACKAGES.python3,
    probe: 'import authlib.integrations.requests_client; print(authlib.__version__)',
  },
  {
    name: 'oauth2 for Ruby',
    program: 'oauth2-client.rb',
    interpreter: 'ruby',
    packages: ['ruby-oauth2'],
    probe: 'require "oauth2"; require "oauth2/version"; puts OAuth2::Version',
  },
];

/** Found before the tests are declared, because the test names contain the versions. */
const found = await findLibraries(LIBRARIES);

interface Got {
  email: string;
  tokens: { access_token: string };
}

let product: RunningProduct;
let resourceServer: { id: string; secret: string };

beforeAll(async () => {
  product = await startProduct();
  resourceServer = await withStores(product.databaseUrl, (stores) =>
    createResourceServer(stores, 'Bookings API'),
  );
});

afterAll(() => product.close());

/**
 * Resolves when the API rejects the token, which the broadcast must cause before the cache entry expires after 30 s.
 */
const refused = (accessToken: string) =>
  until('a revoked token is refused', 20_000, async () => {
    const headers = { Authorization: `Bearer ${accessToken}` };
    return (await fetch(`${product.run.api_url}/v2/me`, { headers })).status === 401;
  });

for (const [index, { name, program }] of LIBRARIES.entries()) {
  const library = found[index]!;
  if ('missing' in library) {
    reportSkipped(name, library);
    continue;
  }

  describe(`${name}, ${library.version}`, () => {
    let dialogue: Dialogue;

    beforeEach(() => {
      // Bypasses a proxy, because the product is on this machine.
      const env = { ...library.env, no_proxy: 'localhost', NO_PROXY: 'localhost' };
      const file = fileURLToPath(new URL(program, import.meta.url));
      dialogue = new Dialogue(library.command, [file], env);
    });

    afterEach(() => dialogue.end());

    // @library authlib @library oauth2
    it.each(['client_secret_basic', 'client_secret_post'])(
      'supports the whole flow with %s and PKCE',
      async (authentication) => {
        const { run } = product;
        dialogue.send({ ...run, resource_server: resourceServer, authentication });
        const { authorization_url } = await dialogue.receive<{ authorization_url: string }>();
        expect(new URL(authorization_url).searchParams.get('code_challenge_method')).toBe('S256');
        dialogue.send(await allow(run, authorization_url));

        const redeemed = await dialogue.receive<Got>();
        expect(redeemed).toMatchObject({ email: run.user.email, tokens: { scope: 'profile:read' } });
        const renewed = await dialogue.receive<Got>();
        expect(renewed).toMatchObject({
          email: run.user.email,
          tokens: { scope: 'profile:read' },
          introspection: { active: true, client_id: run.client.client_id, scope: 'profile:read' },
        });
        expect(renewed.tokens.access_token).not.toBe(redeemed.tokens.access_token);

        expect(await dialogue.receive()).toEqual({ revocation: 200, introspection: { active: false } });
        await refused(renewed.tokens.access_token);
        dialogue.send('the API refuses it');
        expect(await dialogue.receive()).toEqual({ me: 401, refresh: 'invalid_grant' });
      },
    );
  });
}
