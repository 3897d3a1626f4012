import type { ServerResponse } from 'node:http';
import pg from 'pg';
import type { Response } from 'supertest';
import type { User } from '#users/user.js';
import { blocked } from '#test/support/until.js';
import { auditEvents } from '#test/support/audit-trail.js';
import type { Browser } from '#test/support/browser.js';
import { ClientKey, keysOf } from '#test/support/keys.js';
import { startDocumentHost } from '#test/support/document-host.js';
import {
  authorizeAddress,
  PKCE,
  redirectParameters,
  startAuthorizeApp,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { allow } from '../support/use-requests.js';
import { disableClients } from '#test/support/stored.js';

const host = await startDocumentHost();
const refusing = await startDocumentHost();
const flooded = await startDocumentHost();
const elsewhere = await startDocumentHost();
const { app } = useAuthorizeApp({
  CLIENT_METADATA_HOSTS: [host, refusing, flooded].map((server) => server.host).join(),
  OUTSIDE_FETCH_ALLOW: '127.0.0.1',
});
afterAll(() => [host, refusing, flooded, elsewhere].forEach((server) => server.close()));

let user: User;
let browser: Browser;

beforeEach(async () => {
  user = await app.user();
  browser = await app.loggedIn(user);
});

const address = (clientId: string, more: Record<string, string | undefined> = {}) =>
  authorizeAddress({
    client_id: clientId,
    redirect_uri: 'https://app.example.com/callback',
    ...PKCE,
    ...more,
  });
const WEB = { redirect_uris: ['https://app.example.com/callback'] };
const newClient = (members: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  host.publish(host.newUrl(), { ...WEB, ...members }, headers);
const row = async (clientId: string) => {
  const [found] = await app.sql<Record<string, unknown>>('SELECT * FROM clients WHERE client_id = $1', [
    clientId,
  ]);
  return found;
};
const makeDue = (clientId: string) =>
  app.sql("UPDATE clients SET document_due_at = now() - interval '1 s' WHERE client_id = $1", [clientId]);
const isConsentPage = ({ status, text }: Response) => status === 200 && text.includes('value="allow"');
const consented = async (clientId: string): Promise<void> => {
  expect((await allow(browser, await browser.get(address(clientId)))).status).toBe(303);
};

// @client metadata document 9.5 @client metadata document 9.9
describe('a client of a host in CLIENT_METADATA_HOSTS', () => {
  it('is admitted at its first use, and its host is shown before its name', async () => {
    const url = newClient({ client_name: 'My Bank', scope: 'profile:read unknown' });
    const page = await browser.get(address(url));
    expect(isConsentPage(page)).toBe(true);
    expect(page.text).toContain(`<bdi>${host.host} (My Bank)</bdi>`);
    expect(page.text).not.toContain('<bdi>My Bank');
    const { code } = redirectParameters((await allow(browser, page)).headers['location']);
    expect(code).toMatch(/^sac_/);
    expect((await browser.get('/auth/apps')).text).toContain(`${host.host} (My Bank)`);
    expect(await row(url)).toMatchObject({ type: 'public', scopes: ['profile:read'], require_state: false });
    const [event] = await auditEvents(app.services.natsUrl, { clientId: url, types: ['client.created'] });
    expect(event).toMatchObject({ service: 'authorize', detail: { admitted_by_host: host.host } });
  });

  it('is admitted once by concurrent first uses in several processes', async () => {
    const url = newClient();
    const other = await startAuthorizeApp({ ...host.settings }, await sameServices());
    const pages = await Promise.all([
      ...Array.from({ length: 5 }, () => app.browser().get(address(url))),
      ...Array.from({ length: 5 }, () => other.browser().get(address(url))),
    ]);
    await other.close();
    expect(pages.map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(host.fetches(url)).toBeLessThanOrEqual(2);
    expect(await row(url)).toBeDefined();
  });

  it('may vary the port of a loopback redirect URI, for which the consent page shows a warning', async () => {
    const url = newClient({ redirect_uris: ['http://127.0.0.1/callback', ...WEB.redirect_uris] });
    const warning = 'any app on this device could be using its name';
    const page = await browser.get(address(url, { redirect_uri: 'http://127.0.0.1:49152/callback' }));
    expect(isConsentPage(page)).toBe(true);
    expect(page.text).toContain('127.0.0.1:49152');
    expect(page.text).toContain(warning);
    expect((await browser.get(address(url))).text).not.toContain(warning);
  });

  it('must use PKCE', async () => {
    const answer = await browser.get(
      address(newClient(), { code_challenge: undefined, code_challenge_method: undefined }),
    );
    expect(redirectParameters(answer.headers['location'])).toMatchObject({ error: 'invalid_request' });
  });

  it('is refused if the host already has 200 clients', async () => {
    await app.sql(
      `INSERT INTO clients (client_id, name, type, redirect_uris, document_due_at, document_changed_at)
       SELECT $1 || n, 'x', 'public', '{https://app.example.com/}', now(), now() FROM generate_series(1, 200) n`,
      [`http://${refusing.host}/many/`],
    );
    const url = refusing.publish(refusing.newUrl());
    expect((await browser.get(address(url))).status).toBe(400);
    expect(refusing.fetches(url)).toBe(0);
    await app.sql('DELETE FROM clients WHERE starts_with(client_id, $1)', [`http://${refusing.host}/many/`]);
  });

  it('cannot cause more than 30 fetches of unknown documents from its host in a minute', async () => {
    const pages: number[] = [];
    for (let count = 0; count < 31; count++)
      pages.push((await browser.get(address(flooded.newUrl()))).status);
    expect(pages).toEqual([...Array<number>(30).fill(400), 503]);
    expect(flooded.requests).toBe(30);
  });
});

// @client metadata document 9.9 @client metadata document 8.2
describe('a client of another host', () => {
  it('is unknown, and its document is not fetched', async () => {
    const page = await browser.get(address(elsewhere.publish(elsewhere.newUrl())));
    expect(page.status).toBe(400);
    expect(page.text).toContain('Application not found');
    expect(elsewhere.requests).toBe(0);
  });

  it('is known if the operator has admitted it', async () => {
    const url = elsewhere.publish(elsewhere.newUrl(), WEB);
    await app.client(
      { clientId: url, documentDueAt: new Date(0), type: 'public', requireState: false },
      ...WEB.redirect_uris,
    );
    expect(isConsentPage(await browser.get(address(url)))).toBe(true);
    expect(await row(url)).toMatchObject({ name: 'Inspector' });
  });
});

// @client metadata document 5 @client metadata document 4 @client metadata document 5.1 @client metadata document 9.7
describe('a document that breaks a rule', () => {
  const published =
    (members: object, headers: Readonly<Record<string, string>> = {}) =>
    (url: string): unknown =>
      refusing.publish(url, members, headers);
  const answered = (answer: (response: ServerResponse) => void) => (url: string) =>
    refusing.answer(url, answer);
  const JSON_TYPE = { 'Content-Type': 'application/json' };

  it.each<[string, RegExp, (url: string) => unknown, string?]>([
    ['of another client_id', /client_id must be the URL/, published({ client_id: 'https://bank.example/' })],
    ['without a client_id', /client_id must be the URL/, published({ client_id: undefined })],
    ['with a shared secret', /client_secret must be absent/, published({ client_secret: 'x' })],
    [
      'whose client authenticates with a secret',
      /client_secret_basic is refused/,
      published({ token_endpoint_auth_method: 'client_secret_basic' }),
      'unauthorized_client',
    ],
    [
      'whose client has no keys for its authentication method',
      /needs either jwks or jwks_uri/,
      published({ token_endpoint_auth_method: 'private_key_jwt' }),
    ],
    [
      'whose client has no supported authentication method',
      /auth_method must be .* is "tls_client_auth"/,
      published({
        token_endpoint_auth_method: undefined,
        token_endpoint_auth_methods_supported: ['tls_client_auth'],
      }),
      'unauthorized_client',
    ],
    [
      'with a private key',
      /jwks contains a private key/,
      published({ jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'A', d: 'A' }] } }),
    ],
    [
      'with a jwks_uri that is not https',
      /jwks_uri must be an https URL/,
      published({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'http://app.example.com/' }),
    ],
    [
      'with a key that is not a public key',
      /jwks is refused: key 1 is a shared secret/,
      published({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'AA' }] } }),
    ],
    ['without redirect URIs', /a redirect URI is missing/, published({ redirect_uris: [] })],
    ['with an http redirect URI', /is not encrypted/, published({ redirect_uris: ['http://a.example/'] })],
    [
      'with a repeated member',
      /the member "client_name" is given twice/,
      answered((response) => response.writeHead(200, JSON_TYPE).end('{"client_name":"A","client_name":"B"}')),
    ],
    [
      'that demands encrypted ID tokens',
      /id_token_encrypted_response_alg demands what this service cannot do/,
      published({ id_token_encrypted_response_alg: 'RSA-OAEP' }),
    ],
    [
      'with 5,001 problems, of which ten are listed',
      /^(?=[^]{100,2000}$)[^]*and 4991 more/,
      published({ redirect_uris: Array<string>(5000).fill('') }),
    ],
    [
      'of a client without the grant type authorization_code',
      /grant_types must include "authorization_code"/,
      published({ grant_types: ['client_credentials'] }),
    ],
    ['with another Content-Type', /Content-Type/, published({}, { 'Content-Type': 'text/html' })],
    [
      'that is not JSON',
      /not a JSON object/,
      answered((response) => response.writeHead(200, JSON_TYPE).end('<html>')),
    ],
    [
      'that is deeply nested',
      /nested too deeply/,
      answered((response) =>
        response
          .writeHead(200, JSON_TYPE)
          .end(
            `{"token_endpoint_auth_method":"private_key_jwt","jwks":${'['.repeat(8000)}${']'.repeat(8000)}}`,
          ),
      ),
    ],
    ['of 17 KB', /larger than 16384/, published({ padding: 'x'.repeat(17_000) })],
    ['that does not exist', /the status 404/, answered((response) => response.writeHead(404).end())],
    [
      'behind a redirect',
      /the redirect 302/,
      answered((response) => response.writeHead(302, { Location: '/' }).end()),
    ],
  ])(
    'is refused, with the reason in the audit trail: %s',
    async (_what, reason, publish, error = 'invalid_request') => {
      const url = refusing.newUrl();
      publish(url);
      const page = await browser.get(address(url));
      expect(page.status).toBe(400);
      expect(page.text).toContain('This application cannot be identified');
      const [event] = await auditEvents(app.services.natsUrl, { clientId: url, types: ['request.refused'] });
      expect(event?.detail?.['reason']).toMatch(reason);
      expect(event?.error).toBe(error);
      expect(event?.check).toMatch(/^client_document_(?:refused|unavailable)$/);
      expect(await row(url)).toBeUndefined();
    },
  );

  it.each<[string, RegExp, object]>([
    ['an invisible name', /client_name must be/, { client_name: '\u200b' }],
    ['a link that is not https', /client_uri must be/, { client_uri: 'javascript:alert(1)' }],
    // `isEmail` throws for a lone surrogate.
    ['a contact that is not text', /contacts .* must be/, { contacts: ['\ud800@a.example'] }],
    [
      'terminal control characters in a contact',
      /contacts .* must be/,
      { contacts: ['"\u001b[2J"@a.example'] },
    ],
    [
      'a private scheme beside a good redirect URI',
      /redirect_uris .* has the scheme cursor/,
      { redirect_uris: ['cursor://callback', ...WEB.redirect_uris] },
    ],
  ])('is accepted without %s, which its client reports', async (_what, problem, members) => {
    const url = newClient(members);
    expect(isConsentPage(await browser.get(address(url)))).toBe(true);
    const { document_problem: reported, redirect_uris: uris } = (await row(url)) ?? {};
    expect(reported).toMatch(/^left out: /);
    expect(reported).toMatch(problem);
    expect(uris).toEqual(WEB.redirect_uris);
    await makeDue(url);
    await browser.get(address(url));
    expect((await row(url))?.['document_problem']).toBe(reported);
  });

  // @client metadata document 5.2
  it('is accepted at the next request after its correction', async () => {
    const url = refusing.publish(refusing.newUrl(), { redirect_uris: [] });
    expect((await browser.get(address(url))).status).toBe(400);
    expect(isConsentPage(await browser.get(address(refusing.publish(url, WEB))))).toBe(true);
  });

  // @client metadata document 3
  it.each([
    ['has no path', ''],
    ['has a fragment', '/client.json#a'],
    ['has a dot segment', '/a/../client.json'],
    ['has an encoded dot segment', '/a/%2e%2e/client.json'],
    ['has a user name', '@'],
  ])('is refused if its URL %s', async (_what, rest) => {
    const url = rest === '@' ? `http://ada@${refusing.host}/client.json` : `http://${refusing.host}${rest}`;
    const before = refusing.requests;
    expect((await browser.get(address(url))).status).toBe(400);
    expect(refusing.requests).toBe(before);
    expect(await row(url)).toBeUndefined();
  });
});

// @client metadata document 5.2 @client metadata document 9.4 @client metadata document 10.1
describe('a known client', () => {
  it.each<[string, string, (response: ServerResponse) => void]>([
    ['is down', 'cannot be reached', (response) => response.destroy()],
    ['is slow', 'did not answer in 3000 ms', () => undefined],
    ['answers with an error', 'the status 500', (response) => response.writeHead(500).end()],
    ['sends an invalid document', 'Content-Type', (response) => response.end('{')],
  ])('keeps its description while its host %s', async (_what, problem, answer) => {
    const url = newClient();
    await browser.get(address(url));
    host.answer(url, answer);
    await makeDue(url);
    expect(isConsentPage(await browser.get(address(url)))).toBe(true);
    expect(isConsentPage(await browser.get(address(url)))).toBe(true);
    expect(host.fetches(url)).toBe(2);
    expect((await row(url))?.['document_problem']).toContain(problem);
    await makeDue(host.publish(url, WEB));
    await browser.get(address(url));
    expect((await row(url))?.['document_problem']).toBeNull();
  });

  it.each<[string, object]>([
    ['another name', { client_name: 'Other' }],
    ['one more redirect URI', { redirect_uris: [...WEB.redirect_uris, 'https://evil.example/callback'] }],
    [
      'its first keys',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://app.example.com/jwks.json' },
    ],
  ])('needs consent again after a change of its document: %s', async (_what, members) => {
    const url = newClient();
    await consented(url);
    expect((await browser.get(address(url))).status).toBe(303);
    host.publish(url, { ...WEB, ...members });
    expect((await browser.get(address(url))).status).toBe(303);
    await makeDue(url);
    expect(isConsentPage(await browser.get(address(url)))).toBe(true);
    await consented(url);
    expect((await browser.get(address(url))).status).toBe(303);
    const [event] = await auditEvents(app.services.natsUrl, { clientId: url, types: ['client.updated'] });
    expect(event).toMatchObject({ detail: { by: 'document' }, changes: expect.anything() as unknown });
  });

  it('has stricter rules as soon as its document demands them', async () => {
    const url = newClient();
    await browser.get(address(url));
    host.publish(url, {
      ...WEB,
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
      id_token_signed_response_alg: 'ES256',
    });
    await makeDue(url);
    const answer = await browser.get(address(url));
    expect(redirectParameters(answer.headers['location'])).toMatchObject({ error: 'invalid_request' });
    const rules = { require_par: true, dpop_bound: true, id_token_alg: 'ES256' };
    expect(await row(url)).toMatchObject(rules);
    await makeDue(host.publish(url, WEB));
    await browser.get(address(url));
    expect(await row(url)).toMatchObject(rules);
  });

  it.each<[string, boolean, (before: readonly object[], added: readonly object[]) => object]>([
    ['another home page', false, (keys) => ({ jwks: { keys }, client_uri: 'https://app.example.com/' })],
    ['a removed key', false, (keys) => ({ jwks: { keys: keys.slice(1) } })],
    ['an added key', true, (keys, added) => ({ jwks: { keys: [...keys, ...added] } })],
    ['a rotated key', true, (keys, added) => ({ jwks: { keys: [...keys.slice(1), ...added] } })],
  ])('needs consent again only after new keys: %s', async (_what, needsConsent, change) => {
    const jwks = async () => keysOf(await ClientKey.generate()).jwks?.keys ?? [];
    const [keys, signs]: [readonly object[], object] = [
      [...(await jwks()), ...(await jwks())],
      { token_endpoint_auth_method: 'private_key_jwt' },
    ];
    const url = newClient({ ...signs, jwks: { keys } });
    await consented(url);
    host.publish(url, { ...WEB, ...signs, ...change(keys, await jwks()) });
    await makeDue(url);
    expect(isConsentPage(await browser.get(address(url)))).toBe(needsConsent);
    expect(host.fetches(url)).toBe(2);
  });

  it('needs consent again if its document changes during the request', async () => {
    const url = newClient();
    await consented(url);
    const database = new pg.Client({ connectionString: app.services.databaseUrl });
    await database.connect();
    await database.query('BEGIN');
    await database.query(
      'UPDATE oauth.clients SET document_changed_at = clock_timestamp() WHERE client_id = $1',
      [url],
    );
    const answer = browser.get(address(url));
    await blocked(app);
    await database.query('COMMIT');
    await database.end();
    expect((await answer).headers['location']).toBe(address(url));
    expect(isConsentPage(await browser.get(address(url)))).toBe(true);
  });

  it('has its document fetched by the next request after a timeout of PostgreSQL', async () => {
    const url = newClient();
    const impatient = await startAuthorizeApp(
      { ...host.settings, DEPENDENCY_TIMEOUT: 1 },
      await sameServices(),
    );
    const page = () => impatient.browser().get(address(url));
    await page();
    await makeDue(host.publish(url, { ...WEB, client_name: 'Renamed' }));
    const database = new pg.Client({ connectionString: app.services.databaseUrl });
    await database.connect();
    await database.query('BEGIN');
    await database.query('SELECT FROM oauth.clients WHERE client_id = $1 FOR UPDATE', [url]);
    expect((await page()).status).toBe(503);
    await database.query('ROLLBACK');
    await database.end();
    await page();
    await impatient.close();
    expect((await browser.get(address(url))).text).toContain('Renamed');
    expect(host.fetches(url)).toBe(2);
  });

  it.each([
    ['at most a day', 'max-age=31536000', 24 * 60],
    ['at least five minutes', 'no-store', 5],
    ['the time that the host specifies', 'max-age=1200', 20],
  ])('has its document fetched again after %s', async (_what, cacheControl, minutes) => {
    const url = newClient({}, { 'Cache-Control': cacheControl });
    await browser.get(address(url));
    const [due] = await app.sql<{ minutes: number }>(
      'SELECT round(extract(epoch FROM document_due_at - created_at) / 60)::integer AS minutes FROM clients WHERE client_id = $1',
      [url],
    );
    expect(due?.minutes).toBe(minutes);
  });

  it('stays disabled when its document changes', async () => {
    const url = newClient();
    await browser.get(address(url));
    await disableClients(app, url);
    await makeDue(host.publish(url, { ...WEB, client_name: 'Renamed' }));
    expect((await browser.get(address(url))).status).toBe(403);
    expect(host.fetches(url)).toBe(1);
    expect(await row(url)).toMatchObject({ name: 'Inspector' });
  });

  it('is not admitted again after the operator has deleted it', async () => {
    const url = newClient();
    await browser.get(address(url));
    await app.sql('UPDATE clients SET deleted_at = now() WHERE client_id = $1', [url]);
    const page = await browser.get(address(url));
    expect(page.text).toContain('Application not found');
    expect(host.fetches(url)).toBe(1);
  });
});

/** Services for a second app, which must not stop them. */
const sameServices = async () => ({ ...app.services, close: async () => undefined });
