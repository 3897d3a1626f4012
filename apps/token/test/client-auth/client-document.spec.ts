import { SUBJECTS } from '#messaging/contract.js';
import { ASSERTION_TYPE, ClientKey, keysOf } from '#test/support/keys.js';
import { startDocumentHost } from '#test/support/document-host.js';
import { ISSUER } from '../support/use-key-client.js';
import { useTokenApp } from '../support/use-token-app.js';

const host = await startDocumentHost();
const app = useTokenApp(host.settings);
afterAll(() => host.close());

const CALLBACK = 'http://127.0.0.1/callback';
/** RFC 7636, Appendix B. */
const PKCE = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
const known = (url: string) => app.clients.find(url);
const push = (clientId: string, more: object = {}) =>
  app.post('par', { client_id: clientId, redirect_uri: CALLBACK, ...PKCE, ...more });

// @client metadata document 7
it('the metadata announces support for client metadata documents', async () => {
  const answer = await fetch(`${app.url}/.well-known/oauth-authorization-server`);
  expect(await answer.json()).toMatchObject({ client_id_metadata_document_supported: true });
});

describe('a client of a host in CLIENT_METADATA_HOSTS', () => {
  it('is admitted by its first pushed request', async () => {
    const url = host.publish(host.newUrl());
    // The app must not cache that the client is unknown.
    expect((await app.post('revoke', { token: 'x', client_id: url })).status).toBe(401);
    expect((await push(url)).status).toBe(201);
    expect((await app.post('revoke', { token: 'x', client_id: url })).status).toBe(200);
    expect(host.fetches(url)).toBe(1);
  });

  it('is not admitted by the token endpoint', async () => {
    const url = host.publish(host.newUrl());
    const answer = await app.post('token', {
      grant_type: 'refresh_token',
      refresh_token: 'x',
      client_id: url,
    });
    expect(answer.body).toMatchObject({ error: 'invalid_client' });
    expect(host.fetches(url)).toBe(0);
  });

  it('gets an error_uri that explains the refusal of its document', async () => {
    const answer = await push(host.publish(host.newUrl(), { redirect_uris: [] }));
    expect(answer.status).toBe(400);
    expect(answer.body.error_uri).toMatch(/#client_document_refused$/);
  });
});

it('a push by a client of another host is refused without a fetch of its document', async () => {
  const other = await startDocumentHost();
  const answer = await push(other.publish(other.newUrl()));
  other.close();
  expect(answer.body).toMatchObject({ error: 'invalid_client' });
  expect(other.requests).toBe(0);
});

// @client metadata document 6 @client metadata document 9.2
it('a client must authenticate with the current keys in its metadata document', async () => {
  const [old, next] = [await ClientKey.generate(), await ClientKey.generate()];
  const url = host.publish(host.newUrl(), {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: keysOf(next).jwks,
  });
  await app.clients.create({
    clientId: url,
    documentDueAt: new Date(0),
    name: 'Inspector',
    type: 'confidential',
    scopes: ['profile:read'],
    redirectUris: [CALLBACK],
    ...keysOf(old),
  });
  const revokeBy = async (key: ClientKey) =>
    app.post('revoke', {
      token: 'x',
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await key.assertion(url, ISSUER),
    });
  // Other processes would accept the former key until their caches expire.
  const told = new Promise<void>((resolve) => {
    const stop = app.hear(SUBJECTS.clientChanged, (event) => {
      if ((event as { client_id: string }).client_id !== url) return;
      stop();
      resolve();
    });
  });
  expect((await revokeBy(old)).status).toBe(401);
  await told;
  expect(await known(url)).toMatchObject(keysOf(next));
  expect((await revokeBy(next)).status).toBe(200);
  expect((await app.post('revoke', { token: 'x', client_id: url })).status).toBe(401);
});
