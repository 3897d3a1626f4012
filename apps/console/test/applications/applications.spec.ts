import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { exportJWK } from 'jose';
import pg from 'pg';
import sharp from 'sharp';
import request, { type Response } from 'supertest';
import { auditEvent } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { blocked } from '#test/support/until.js';
import { type Browser, statusOf, wordsOf } from '#test/support/browser.js';
import { ClientKey } from '#test/support/keys.js';
import { startDocumentHost } from '#test/support/document-host.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';
import { storeApiClient } from '#test/support/stored.js';

let app: ConsoleApp;
let admin: Browser;

beforeAll(async () => {
  app = await startConsoleApp({ OUTSIDE_FETCH_ALLOW: '127.0.0.1' });
  admin = await app.operator('admin');
});

beforeEach(async () => {
  app.clock.ahead = 0;
  // Without this reset, the requests of this suite would exceed the limit.
  await app.resetRateLimits();
});

afterAll(() => app.close());

const REDIRECT_URI = 'https://rooms.example.com/callback';
const SCOPE = { 'scope:profile:read': 'required' };
const IDENTITY = { name: 'Room Finder' };

async function create(browser: Browser, ...answers: Record<string, string>[]): Promise<Response> {
  let page = await browser.get('/applications/new');
  for (const answer of answers) page = await browser.submit(page, answer, '/applications/new');
  return page;
}

const clientIdOf = (page: Response): string => /sc_[a-z2-7]{24}/.exec(page.text)?.[0] ?? '';
const secretIn = (page: Response): string => /scs_[\w-]{43}/.exec(page.text)?.[0] ?? '';

/** Creates an application. @returns the client id */
async function created(name = 'Room Finder'): Promise<string> {
  const page = await create(
    admin,
    { name },
    { kind: 'server' },
    { redirectUris: REDIRECT_URI },
    SCOPE,
    {},
    {},
  );
  expect(page.status).toBe(201);
  return clientIdOf(page);
}

const registered = (clientId: string) =>
  app
    .sql<Record<string, unknown>>('SELECT * FROM clients WHERE client_id = $1', [clientId])
    .then(([row]) => row);

// @client metadata document 8.2
/** Fields of the form of an application that `created` has registered. */
const fieldsOf = (page: Response): Record<string, string> => ({
  name: /name="name"[^>]*value="([^"]*)"/.exec(page.text)?.[1] ?? '',
  redirectUris: REDIRECT_URI,
  ...SCOPE,
});

describe('an application with a metadata document', () => {
  it('is registered by its URL and has a page like any other application', async () => {
    const host = await startDocumentHost();
    const url = host.publish(host.newUrl(), { client_name: 'Inspector' });
    const first = await admin.get('/applications/new');
    const refused = await admin.submit(first, { metadataUrl: `${url}x` }, '/applications/new');
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('the status 404');
    const page = await admin.submit(refused, { metadataUrl: url }, '/applications/new');
    host.close();
    expect(page.status).toBe(201);
    expect(await registered(url)).toMatchObject({ name: 'Inspector', document_problem: null });
    const path = `/applications/${encodeURIComponent(url)}`;
    const shown = await admin.get(path);
    expect(shown.text).toContain('Next refresh of the metadata document');
    const confirm = await admin.get(`${path}/disable`);
    expect((await admin.submit(confirm, {}, `${path}/disable`)).status).toBe(200);
    expect(await registered(url)).toMatchObject({ disabled_at: expect.any(Date) as Date });
  });
});

describe('the form of a new application', () => {
  it('ends with the secret, which is not shown again, and the URLs for the owner', async () => {
    const page = await create(
      admin,
      IDENTITY,
      { kind: 'server' },
      { redirectUris: REDIRECT_URI },
      SCOPE,
      {},
      {},
    );
    expect(page.status).toBe(201);
    expect(page.text).toMatch(/scs_[\w-]{43}/);
    for (const url of ['/auth/oauth2/authorize', '/api/auth/oauth/token', '/api/auth/oauth/refreshToken'])
      expect(page.text).toContain(url);
    const id = clientIdOf(page);
    expect(await registered(id)).toMatchObject({
      name: 'Room Finder',
      redirect_uris: [REDIRECT_URI],
      type: 'confidential',
    });
    expect((await admin.get(`/applications/${id}`)).text).not.toContain('scs_');
  });

  it('creates only one application if it is posted twice', async () => {
    const answers = [{ name: 'Double Click' }, { kind: 'server' }, { redirectUris: REDIRECT_URI }, SCOPE, {}];
    const last = await create(admin, ...answers);
    const [first, second] = await Promise.all([0, 1].map(() => admin.submit(last, {}, '/applications/new')));
    const again = await admin.submit(last, {}, '/applications/new');
    expect([first, second, again].map((page) => page?.status)).toEqual([201, 201, 201]);
    expect(new Set([first, second, again].map((page) => page && secretIn(page))).size).toBe(1);
    const rows = await app.sql('SELECT 1 FROM clients WHERE name = $1', ['Double Click']);
    expect(rows).toHaveLength(1);
  });

  it('shows a problem at the field and keeps the input', async () => {
    const page = await create(
      admin,
      IDENTITY,
      { kind: 'server' },
      { redirectUris: 'http://rooms.example.com/callback' },
    );
    expect(page.status).toBe(400);
    expect(page.text).toMatch(/<textarea[^>]*name="redirectUris"[^>]*aria-invalid="true" autofocus=""/);
    expect(page.text).toContain('http://rooms.example.com/callback</textarea>');
    expect(page.text).toContain('name="name" value="Room Finder"');
    expect(page.text).not.toContain('‹');
    // The missing scopes are not a problem yet, because they belong to a later step.
    expect(page.text).not.toContain('role="alert"');
  });

  it('registers a callback with a private-use scheme only if the scheme is admitted', async () => {
    const callback = { redirectUris: 'cursor://anysphere.cursor-mcp/oauth/callback' };
    const refused = await create(admin, IDENTITY, { kind: 'public' }, callback);
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/<textarea[^>]*name="redirectUris"[^>]*aria-invalid="true"/);
    const admitted = { ...callback, privateSchemes: 'cursor' };
    const page = await create(admin, IDENTITY, { kind: 'public' }, admitted, SCOPE, {}, {});
    expect(page.status).toBe(201);
    const id = clientIdOf(page);
    expect(await registered(id)).toMatchObject({
      private_schemes: ['cursor'],
      redirect_uris: [callback.redirectUris],
    });
    expect(wordsOf(await admin.get(`/applications/${id}`))).toContain('Admitted schemes cursor');
    expect((await admin.get(`/applications/${id}/edit`)).text).toMatch(
      /<textarea[^>]*name="privateSchemes"[^>]*>\s*cursor<\/textarea>/,
    );
  });

  it('selects ES256 for FAPI 2.0, and refuses RS256', async () => {
    const jwks = JSON.stringify({ keys: [(await ClientKey.generate()).jwk] });
    const answers = [IDENTITY, { kind: 'keys', jwks }, { redirectUris: REDIRECT_URI }, SCOPE];
    const wrong = await create(admin, ...answers, { profile: 'fapi2', idTokenAlg: 'RS256' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toMatch(/<select[^>]*name="idTokenAlg"[^>]*aria-invalid="true"/);
    const page = await create(admin, ...answers, { profile: 'fapi2' }, {});
    expect(page.status).toBe(201);
    const id = clientIdOf(page);
    expect(await registered(id)).toMatchObject({ profile: 'fapi2', id_token_alg: 'ES256' });
  });

  it('returns to the previous step without losing input', async () => {
    const back = await create(admin, IDENTITY, { kind: 'public' }, { redirectUris: REDIRECT_URI, go: '1' });
    expect(back.text).toMatch(/value="public"[^>]*checked/);
    expect(back.text).toContain(`name="redirectUris" value="${REDIRECT_URI}"`);
  });

  it('shows a summary of every step before it creates anything, and leads back to each', async () => {
    const profile = { profile: 'oauth', requirePar: 'true' };
    const answers = [{ kind: 'public' }, { redirectUris: REDIRECT_URI }, SCOPE, profile];
    const summary = await create(admin, IDENTITY, ...answers);
    expect(summary.status).toBe(200);
    for (const text of ['Room Finder', 'on a phone or computer', REDIRECT_URI, 'profile:read', 'RFC 9126'])
      expect(wordsOf(summary)).toContain(text);
    let page = await admin.submit(summary, { go: '0' }, '/applications/new');
    expect(page.text).toContain('value="Room Finder"');
    for (const answer of [{ name: 'Room Planner' }, ...answers, {}])
      page = await admin.submit(page, answer, '/applications/new');
    expect(await registered(clientIdOf(page))).toMatchObject({
      name: 'Room Planner',
      type: 'public',
      require_par: true,
    });
  });

  it('focuses only the first of several problems', async () => {
    const answers = [IDENTITY, { kind: 'server' }];
    const wrong = { redirectUris: 'http://rooms.example.com/', backchannelLogoutUri: 'nonsense' };
    const page = await create(admin, ...answers, wrong);
    expect(page.text.match(/aria-invalid="true"/g)).toHaveLength(2);
    expect(page.text.match(/<(?:input|textarea|div)\b[^>]* autofocus=""/g)).toEqual([
      expect.stringContaining('name="redirectUris"'),
    ]);
  });

  it('creates a public client without a secret', async () => {
    const page = await create(
      admin,
      IDENTITY,
      { kind: 'public' },
      { redirectUris: REDIRECT_URI },
      SCOPE,
      {},
      {},
    );
    expect(page.status).toBe(201);
    expect(page.text).not.toContain('scs_');
  });

  it('accepts markup in the name, which pages escape', async () => {
    const id = await created('<script>alert(1)</script>');
    const page = await admin.get(`/applications/${id}`);
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page.text).not.toContain('<script>');
  });
});

describe('the page of an application', () => {
  it('shows how many users have allowed it access, and its last refusals', async () => {
    const id = await created('Busy Rooms');
    const empty = await admin.get(`/applications/${id}`);
    expect(wordsOf(empty)).toContain('No user has allowed it access');
    for (const [user, grants] of [
      ['first', 2],
      ['second', 1],
    ] as const) {
      const profile = {
        username: user,
        email: `${user}@example.com`,
        name: user,
        passwordHash: '$argon2id$x',
      };
      const { id: userId } = await app.users.create(profile);
      await app.sql(
        `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, lifetime, expires_at, last_used_on)
         SELECT lpad($1 || n, 43, 'x'), $2, $3, 'profile:read', 'profile:read', '90 days', now() + interval '90 days', now()
         FROM generate_series(1, $4) n`,
        [user, userId, id, grants],
      );
    }
    const nats = await connect(natsOptions(app.services.natsUrl, 'applications test'));
    for (const [check, reference, ageMs] of [
      ['redirect_uri_mismatch', 'earliest0000', 1],
      ['client_secret_mismatch', 'latest000000', 0],
    ] as const) {
      const refusal = {
        type: 'request.refused',
        client_id: id,
        error: 'invalid_grant',
        check,
        reference,
      } as const;
      await storeEvent(nats, auditEvent('token', refusal, new Date(Date.now() - ageMs)));
    }
    await nats.close();
    const page = await admin.get(`/applications/${id}`);
    expect(wordsOf(page)).toContain('2 users have allowed it access');
    const links = [...page.text.matchAll(/reference=(\w+)/g)].map(([, reference]) => reference);
    expect(links).toEqual(['latest000000', 'earliest0000']);
  });
});

describe('the list of applications', () => {
  it('finds applications by part of the name', async () => {
    await created('Quarterly Planner');
    const found = await admin.get('/applications?search=quarterly');
    expect(found.text).toContain('Quarterly Planner');
    expect((await admin.get('/applications?search=nothing-like-it')).text).not.toContain('Quarterly Planner');
  });
});

describe('the edit form of an application', () => {
  it('shows the difference before it saves a change', async () => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    const preview = await admin.submit(
      form,
      { ...fieldsOf(form), name: 'Rooms', requirePar: 'true' },
      `/applications/${id}/edit`,
    );
    expect(preview.text).toContain('<del>Room Finder</del>');
    expect(preview.text).toContain('<ins>Rooms</ins>');
    expect(preview.text).toContain('<ins>Required (RFC 9126)</ins>');
    expect(await registered(id)).toMatchObject({ name: 'Room Finder' });
    const saved = await admin.submit(preview, {}, `/applications/${id}/save`);
    expect(saved.status).toBe(200);
    expect(await registered(id)).toMatchObject({ name: 'Rooms' });
  });

  it('shows an unknown value as text, even the name of an object property', async () => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    const values = { firstParty: 'constructor', requirePar: 'toString' };
    const fields = { ...fieldsOf(form), ...values, constructor: 'name' };
    const preview = await admin.submit(form, fields, `/applications/${id}/edit`);
    expect(preview.status).toBe(200);
    for (const value of [...Object.values(values), 'name'])
      expect(preview.text).toContain(`<ins>${value}</ins>`);
  });

  it('shows a problem at its field before it shows the difference', async () => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    const wrong = { ...fieldsOf(form), redirectUris: 'http://rooms.example.com/callback' };
    const page = await admin.submit(form, wrong, `/applications/${id}/edit`);
    expect(page.status).toBe(400);
    expect(page.text).toMatch(/<textarea[^>]*name="redirectUris"[^>]*aria-invalid="true" autofocus=""/);
  });

  it('changes the scopes of an API client, which has no users', async () => {
    const id = 'sc_apiclientapiclientapicli';
    await storeApiClient(app, id);
    const form = await admin.get(`/applications/${id}/edit`);
    expect(form.text).toContain(`href="/applications/${id}/keys"`);
    expect(wordsOf(form)).not.toContain('consent');
    const fields = { name: 'Terraform', 'scope:admin:read': 'required' };
    const none = await admin.submit(form, { name: 'Terraform' }, `/applications/${id}/edit`);
    expect([none.status, none.text.includes('role="alert"')]).toEqual([400, true]);
    const changes = { ...fields, 'scope:admin:write': 'required' };
    const preview = await admin.submit(form, changes, `/applications/${id}/edit`);
    expect([...preview.text.matchAll(/<(?:ins|del)>/g)]).toHaveLength(1);
    expect((await admin.submit(preview, {}, `/applications/${id}/save`)).status).toBe(200);
    expect(await registered(id)).toMatchObject({
      scopes: ['admin:read', 'admin:write'],
      require_state: false,
    });
  });

  it('saves a change after it has shown every warning, and only for the application that it has shown', async () => {
    const id = await created();
    const callback = `${app.configuration.CONSOLE_URL}/login/callback`;
    await app.sql('UPDATE clients SET redirect_uris = ARRAY[$2] WHERE client_id = $1', [id, callback]);
    await app.sql(`INSERT INTO users (email, username, name) VALUES ('ada@example.com', $1, 'Ada')`, [id]);
    await app.sql(
      `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, lifetime, expires_at)
       SELECT $2, id, $1, 'profile:read', 'profile:read', interval '1 hour', now() + interval '1 hour'
       FROM users WHERE username = $1`,
      [id, randomBytes(32).toString('base64url')],
    );
    const path = `/applications/${id}/save`;
    const form = await admin.get(`/applications/${id}/edit`);
    const fields = { ...fieldsOf(form), subject: 'pairwise' };
    const preview = await admin.submit(form, fields, `/applications/${id}/edit`);
    const warned = await admin.submit(preview, {}, path);
    expect([warned.status, wordsOf(warned)]).toEqual([
      409,
      expect.stringContaining('1 live grant') as string,
    ]);
    expect(warned.text).toContain(`operator client update ${id} --add-redirect-uri ${callback}`);
    expect(await registered(id)).toMatchObject({ redirect_uris: [callback], sector: null });
    await app.sql(`UPDATE clients SET name = 'Rooms', version = version + 1 WHERE client_id = $1`, [id]);
    const outdated = await admin.submit(warned, {}, path);
    const again = await admin.submit(outdated, {}, path);
    expect([outdated.status, again.status]).toEqual([409, 409]);
    expect((await admin.submit(again, {}, path)).status).toBe(200);
    expect(await registered(id)).toMatchObject({
      redirect_uris: [REDIRECT_URI],
      sector: 'rooms.example.com',
    });
  });

  it('shows the same page to a form that is sent twice, and after the form was opened again', async () => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    const preview = () =>
      admin.submit(form, { ...fieldsOf(form), name: 'Rooms' }, `/applications/${id}/edit`);
    const [first, later] = [await preview(), await preview()];
    const [one, two] = await Promise.all(
      [0, 1].map(() => admin.submit(first, {}, `/applications/${id}/save`)),
    );
    const back = await admin.submit(later, {}, `/applications/${id}/save`);
    for (const saved of [one, two, back])
      expect([saved?.status, saved?.text]).toEqual([200, expect.stringContaining('The changes are saved.')]);
    expect(await registered(id)).toMatchObject({ name: 'Rooms', version: 2 });
  });

  it('executes the form again with other fields after the operator went back', async () => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    for (const name of ['Rooms', 'Rooms 2']) {
      const preview = await admin.submit(form, { ...fieldsOf(form), name }, `/applications/${id}/edit`);
      expect(preview.text).toContain(`<ins>${name}</ins>`);
    }
  });

  it('refuses a change if another operator changed the application after the form was shown', async () => {
    const id = await created();
    const other = await app.operator('admin', 'grace');
    const [mine, theirs] = [
      await admin.get(`/applications/${id}/edit`),
      await other.get(`/applications/${id}/edit`),
    ];
    const edit = async (browser: Browser, form: Response, name: string) => {
      const preview = await browser.submit(form, { ...fieldsOf(form), name }, `/applications/${id}/edit`);
      return browser.submit(preview, {}, `/applications/${id}/save`);
    };
    expect((await edit(other, theirs, 'Theirs')).status).toBe(200);
    const withProblem = await admin.submit(mine, { ...fieldsOf(mine), name: '' }, `/applications/${id}/edit`);
    for (const form of [mine, withProblem]) {
      const refused = await edit(admin, form, 'Mine');
      expect(refused.status).toBe(409);
      expect(refused.text).toContain('<ins>Mine</ins>');
      expect(await registered(id)).toMatchObject({ name: 'Theirs' });
      // The page shows what would change now, and its form applies to the version that it shows.
      if (form === withProblem) await admin.submit(refused, {}, `/applications/${id}/save`);
    }
    expect(await registered(id)).toMatchObject({ name: 'Mine' });
  });
});

describe('disabling or enabling an application', () => {
  it('needs a warning that names the way back if operators log in by the application', async () => {
    const id = await created();
    const path = `/applications/${id}/disable`;
    const confirm = await admin.get(path);
    const callback = `${app.configuration.CONSOLE_URL}/login/callback`;
    await app.sql('UPDATE clients SET redirect_uris = ARRAY[$2] WHERE client_id = $1', [id, callback]);
    const warned = await admin.submit(confirm, {}, path);
    expect(warned.status).toBe(409);
    expect(warned.text).toContain(`operator client enable ${id}`);
    expect(await registered(id)).toMatchObject({ disabled_at: null });
    expect((await admin.submit(warned, {}, path)).status).toBe(200);
  });

  it('increments its version', async () => {
    const id = await created();
    const page = await admin.get(`/applications/${id}/disable`);
    expect((await admin.submit(page, {}, `/applications/${id}/disable`)).text).toContain('is disabled');
    expect(await registered(id)).toMatchObject({ version: 2, disabled_at: expect.any(Date) as Date });
    const disabled = await admin.get(`/applications/${id}`);
    await admin.submit(disabled, {}, `/applications/${id}/enable`);
    expect(await registered(id)).toMatchObject({ version: 3, disabled_at: null });
  });
});

describe('the secret pages', () => {
  it('create a second secret, and revoke the first', async () => {
    const id = await created();
    const confirm = await admin.get(`/applications/${id}/secrets/new`);
    const page = await admin.submit(confirm, {}, `/applications/${id}/secrets/new`);
    expect(page.text).toMatch(/scs_[\w-]{43}/);
    const shown = await admin.get(`/applications/${id}`);
    const [first = ''] = /\/secrets\/[^"]+\/revoke/.exec(shown.text) ?? [];
    const revoke = await admin.get(`/applications/${id}${first}`);
    await admin.submit(revoke, {}, `/applications/${id}/secrets/`);
    const live = await app.sql('SELECT 1 FROM client_secrets WHERE client_id = $1 AND revoked_at IS NULL', [
      id,
    ]);
    expect(live).toHaveLength(1);
  });

  it('link a refused third secret to the pages that revoke one of the others', async () => {
    const id = await created();
    const path = `/applications/${id}/secrets/new`;
    const confirm = await admin.get(path);
    expect((await admin.submit(confirm, {}, path)).status).toBe(201);
    const refused = await admin.submit(await admin.get(path), {}, path);
    expect(refused.status).toBe(409);
    const links = [...refused.text.matchAll(/href="([^"]*\/revoke)"/g)].map(([, href = '']) => href);
    expect(links).toHaveLength(2);
    for (const link of links) expect((await admin.get(link)).status).toBe(200);
  });

  it('warn before the revocation of the last secret of the application by which operators log in', async () => {
    const id = await created();
    const [path = ''] = /\/secrets\/[^"]+\/revoke/.exec((await admin.get(`/applications/${id}`)).text) ?? [];
    const wayBack = `operator client secret rotate ${id}`;
    expect((await admin.get(`/applications/${id}${path}`)).text).not.toContain(wayBack);
    const callback = `${app.configuration.CONSOLE_URL}/login/callback`;
    await app.sql('UPDATE clients SET redirect_uris = ARRAY[$2] WHERE client_id = $1', [id, callback]);
    expect((await admin.get(`/applications/${id}${path}`)).text).toContain(wayBack);
  });

  it('encode the client_id of an imported application in their addresses', async () => {
    const [id, path] = ['team/rooms?id=1', '/applications/team%2Frooms%3Fid%3D1'];
    const secrets = `INSERT INTO client_secrets (client_id, hash) SELECT client_id, sha256('secret') FROM imported`;
    await app.sql(
      `WITH imported AS (INSERT INTO clients (client_id, name, type, redirect_uris, scopes)
         VALUES ($1, 'Room Finder', 'confidential', $2, '{profile:read}') RETURNING client_id) ${secrets}`,
      [id, [REDIRECT_URI]],
    );
    const shown = await admin.get(path);
    const [, revoke = ''] = new RegExp(`href="(${path}/secrets/[^"]+/revoke)"`).exec(shown.text) ?? [];
    const revoked = await admin.submit(await admin.get(revoke), {}, revoke);
    expect([revoked.status, wordsOf(revoked)]).toEqual([
      200,
      expect.stringContaining('The secret is revoked.') as string,
    ]);
    expect((await admin.get(`${path}/secrets/new`)).text).toContain(`action="${path}/secrets/new"`);
  });

  it('do not revoke a secret that became the last one after the page was shown', async () => {
    const id = await created();
    await admin.submit(
      await admin.get(`/applications/${id}/secrets/new`),
      {},
      `/applications/${id}/secrets/new`,
    );
    const paths = [...(await admin.get(`/applications/${id}`)).text.matchAll(/\/secrets\/[^"]+\/revoke/g)];
    const pages = await Promise.all(paths.map(([path]) => admin.get(`/applications/${id}${path}`)));
    const [first, second] = pages;
    if (!first || !second) throw new Error('there must be two secrets');
    expect((await admin.submit(first, {}, `/applications/${id}/secrets/`)).status).toBe(200);
    expect((await admin.submit(second, {}, `/applications/${id}/secrets/`)).status).toBe(409);
  });
});

describe('the keys of an application', () => {
  /** Creates an application with this key. @returns the path of its keys */
  async function keysPath({ jwk }: ClientKey): Promise<string> {
    const jwks = JSON.stringify({ keys: [jwk] });
    const answers = [IDENTITY, { kind: 'keys', jwks }, { redirectUris: REDIRECT_URI }, SCOPE, {}, {}];
    return `/applications/${clientIdOf(await create(admin, ...answers))}/keys`;
  }

  const stored = async (path: string) => {
    const { jwks, jwks_uri: uri } = (await registered(path.split('/')[2] ?? '')) ?? {};
    return uri ?? (jwks as { keys: { kid: string }[] } | null)?.keys.map(({ kid }) => kid);
  };

  const add = async (path: string, jwk: unknown) =>
    admin.submit(await admin.get(path), { addKeys: JSON.stringify(jwk, null, 2) }, path);

  it('are added and removed one by one, and the audit trail records their thumbprints', async () => {
    const [old, next] = [await ClientKey.generate('ES256', 'old'), await ClientKey.generate('PS256', 'next')];
    const path = await keysPath(old);
    expect(statusOf(await add(path, next.jwk))).toBe('The keys are changed.');
    expect(await stored(path)).toEqual(['old', 'next']);
    const [removal = ''] = /\/applications\/[^"]+\/remove/.exec((await admin.get(path)).text) ?? [];
    const confirm = await admin.get(removal);
    expect(confirm.text).toMatch(/<h1[^>]*>[^<]*(?:<bdi>)?old\b/);
    expect(statusOf(await admin.submit(confirm, {}, removal))).toBe('The keys are changed.');
    expect(await stored(path)).toEqual(['next']);
    const [, clientId = ''] = path.split('/applications/').map((part) => part.replace('/keys', ''));
    const events = await auditEvents(app.services.natsUrl, { clientId, types: ['client.updated'] }, 2);
    const [both, left] = [expect.stringMatching(/^old=/), expect.stringMatching(/^next=/)] as [
      string,
      string,
    ];
    expect(events.map(({ changes }) => changes)).toEqual([
      { keys: { old: [both], new: [both, left] } },
      { keys: { old: [both, left], new: [left] } },
    ]);
  });

  it('can be a set, and replace a URL or be replaced by a URL', async () => {
    const path = await keysPath(await ClientKey.generate('ES256', 'first'));
    const uri = 'https://rooms.example.com/jwks.json';
    await admin.submit(await admin.get(path), { jwksUri: uri }, path);
    expect(await stored(path)).toBe(uri);
    const keys = [await ClientKey.generate('ES256', 'a'), await ClientKey.generate('EdDSA', 'b')];
    await add(path, { keys: keys.map(({ jwk }) => jwk) });
    expect(await stored(path)).toEqual(['a', 'b']);
  });

  it('are not changed by a key that cannot be used, and no page repeats a private key', async () => {
    const key = await ClientKey.generate('ES256', 'mine');
    const path = await keysPath(key);
    const refused = async (jwk: unknown) => {
      const page = await add(path, jwk);
      expect([page.status, page.text.includes('id="addKeys-problem"')]).toEqual([400, true]);
      expect(await stored(path)).toEqual(['mine']);
      return page;
    };
    const secret = await exportJWK(key.privateKey);
    const page = await refused(secret);
    expect(page.text).toMatch(/id="addKeys-problem">[^<]*private key/);
    expect(page.text).not.toContain(secret.d);
    expect((await refused(key.jwk)).text).toMatch(/id="addKeys-problem">[^<]*registered already/);
    const namesake = await ClientKey.generate('ES256', 'mine');
    expect((await refused(namesake.jwk)).text).toMatch(/id="addKeys-problem">[^<]*with the same kid/);
    const { alg: _, ...unnamed } = (await ClientKey.generate('ES384', 'other')).jwk;
    await refused(unnamed);
    await refused({ kty: 'oct', k: 'c2VjcmV0' });
    expect((await refused({ kty: 'EC' })).text).toContain('&quot;kty&quot;: &quot;EC&quot;');
    await refused({ keys: [] });
  });

  it('keep the last key of an application, which authenticates with it', async () => {
    const { jwk } = await ClientKey.generate('ES256', 'only');
    const key = { jwk } as ClientKey;
    const path = await keysPath(key);
    expect((await admin.get(path)).text).not.toContain('/remove');
    const removal = `${path}/only/remove`;
    const page = await admin.submit(await admin.get(removal), {}, removal);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('no key would be left')]);
    expect(await stored(path)).toEqual(['only']);
  });

  it('are not offered to an application with a secret, and refused', async () => {
    const id = await created();
    expect((await admin.get(`/applications/${id}`)).text).not.toContain(`/applications/${id}/keys`);
    const page = await add(`/applications/${id}/keys`, (await ClientKey.generate()).jwk);
    expect(page.text).toMatch(/id="addKeys-problem">[^<]*has a secret/);
  });
});

describe('the logo', () => {
  /** Submits the form (RFC 7578), without a file if `file` is null. */
  async function upload(id: string, file: Buffer | null, fields: Record<string, string> = {}) {
    const page = await admin.get(`/applications/${id}/logo`);
    const form = page.text.slice(page.text.indexOf(`action="/applications/${id}/logo"`));
    const hidden = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const sent = request(app.server)
      .post(`/applications/${id}/logo`)
      .set('Cookie', admin.cookies.header() ?? '');
    for (const [, name = '', value = ''] of hidden) sent.field(name, value);
    for (const [name, value] of Object.entries(fields)) sent.field(name, value);
    return file === null ? sent : sent.attach('logo', file, 'logo.png');
  }

  it('is set from a file, shown, and removed', async () => {
    const id = await created();
    const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#1d4ed8' } })
      .png()
      .toBuffer();
    expect((await upload(id, image)).text).toContain('The logo is saved.');
    const shown = await admin.get(`/applications/${id}/logo/image`);
    expect([shown.headers['content-type'], shown.body]).toEqual(['image/png', image]);
    expect((await upload(id, null, { go: 'remove' })).text).toContain('The logo is removed.');
    expect((await admin.get(`/applications/${id}/logo/image`)).status).toBe(404);
  });

  it('fits if it has 512 × 512 pixels', async () => {
    const id = await created();
    // Four random levels do not compress below a quarter of a byte per pixel.
    const noise = randomBytes(512 * 512).map((byte) => (byte & 3) * 85);
    const image = await sharp(noise, { raw: { width: 512, height: 512, channels: 1 } })
      .png()
      .toBuffer();
    expect(image.length).toBeGreaterThan(64 * 1024);
    expect((await upload(id, image)).text).toContain('The logo is saved.');
  });

  it.each([
    ['its field', MAX_LOGO_BYTES + 1, 400],
    ['a page that leads back', 300_000, 413],
  ])('is refused with the permitted size on %s', async (_where, bytes, status) => {
    const id = await created();
    const refused = await upload(id, Buffer.alloc(bytes));
    expect([refused.status, wordsOf(refused)]).toEqual([status, expect.stringContaining('128 KiB')]);
    expect(refused.text).toContain(`href="/applications/${id}"`);
  });

  it('is refused if the file or the form is invalid', async () => {
    const id = await created();
    const refused = await upload(id, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/id="logo-problem">Logo[^<]+is an SVG/);
    expect((await upload(id, null)).status).toBe(400);
    const sent = request(app.server)
      .post(`/applications/${id}/logo`)
      .set('Cookie', admin.cookies.header() ?? '');
    expect((await sent.attach('logo', Buffer.alloc(10), 'logo.png')).status).toBe(403);
  });
});

it.each(['', 'x', '1e0', '0x1', '1.0', '-1', '0', '99999999999'])(
  'a change is refused with the version "%s"',
  async (version) => {
    const id = await created();
    const fields = { name: 'Rooms', redirectUris: REDIRECT_URI, ...SCOPE };
    const refused = await app.postForm(admin, `/applications/${id}/save`, { ...fields, version });
    expect(refused.status).toBe(400);
    expect(await registered(id)).toMatchObject({ name: 'Room Finder', version: 1 });
  },
);

describe('a dangerous step', () => {
  // These tests log in with a later clock.
  beforeEach(async () => {
    admin = await app.operator('admin');
  });

  it.each(['delete', 'secrets/new'])('requires a login within the last ten minutes: %s', async (step) => {
    const id = await created();
    const page = await admin.get(`/applications/${id}/${step}`);
    app.clock.ahead = 11 * 60_000;
    const again = await admin.get(`/applications/${id}/${step}`);
    expect(again.headers['location']).toBe(
      `/login?page=${encodeURIComponent(`/applications/${id}/${step}`)}&again=`,
    );
    const posted = await admin.submit(page, {}, `/applications/${id}/${step}`);
    expect(posted.headers['location']).toContain('again=');
    expect(await registered(id)).toMatchObject({ deleted_at: null });
  });

  /** Logs in again after a response that requires a login. @returns the page after the login */
  async function afterLogin(asked: Response): Promise<Response> {
    const { searchParams } = new URL(asked.headers['location'] ?? '', 'https://console.example.com');
    expect([asked.status, searchParams.has('again')]).toEqual([303, true]);
    return admin.follow(await app.logIn(admin, { groups: ['admins'] }, searchParams.get('page') ?? ''));
  }

  it('keeps the form of a new application during the login', async () => {
    app.clock.ahead = 11 * 60_000;
    expect((await admin.get('/applications/new')).headers['location']).toMatch(/again=$/);
    app.clock.ahead = 0;
    const last = await create(admin, IDENTITY, { kind: 'server' }, { redirectUris: REDIRECT_URI }, SCOPE);
    app.clock.ahead = 11 * 60_000;
    const asked = await admin.submit(last, { requirePar: 'true' }, '/applications/new');
    const page = await afterLogin(asked);
    expect(wordsOf(page)).toContain('Step 5 of 6');
    const summary = await admin.submit(page, { requirePar: 'true' }, '/applications/new');
    const done = await admin.submit(summary, {}, '/applications/new');
    expect(done.status).toBe(201);
    const id = /sc_[a-z2-7]{24}/.exec(done.text)?.[0] ?? '';
    expect(await registered(id)).toMatchObject({ name: 'Room Finder', redirect_uris: [REDIRECT_URI] });
  });

  it('shows the kept form only to its operator, in the same browser and on the same page', async () => {
    const id = await created('Quarterly Planner');
    const first = await admin.get('/applications/new');
    app.clock.ahead = 11 * 60_000;
    const asked = await admin.submit(first, IDENTITY, '/applications/new');
    const { searchParams } = new URL(asked.headers['location'] ?? '', 'https://console.example.com');
    const page = searchParams.get('page') ?? '';
    const shows = async (browser: Browser, sub: string, path = page) => {
      await app.logIn(browser, { sub, groups: ['admins'] });
      const { status, text } = await browser.get(path);
      return [status, text.includes('Room Finder')];
    };
    expect(await shows(app.browser(), 'ada')).toEqual([200, false]);
    expect(await shows(admin, 'grace')).toEqual([200, false]);
    const otherPage = page.replace('/new', `/${id}/edit`);
    expect(await shows(admin, 'ada', otherPage)).toEqual([200, false]);
    expect(await shows(admin, 'ada', '/applications/new')).toEqual([200, false]);
    expect(await shows(admin, 'ada')).toEqual([200, true]);
  });

  it('keeps at most 20 forms a minute from one address', async () => {
    const first = await admin.get('/applications/new');
    app.clock.ahead = 11 * 60_000;
    const before = await app.redis.keys('console:form:*');
    const statuses = [];
    for (let sent = 0; sent < 21; sent++)
      statuses.push((await admin.submit(first, IDENTITY, '/applications/new')).status);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 303), 429]);
    expect(await app.redis.keys('console:form:*')).toHaveLength(before.length + 20);
  });

  it.each([
    ['the redirect URIs', { redirectUris: 'https://evil.example/callback' }],
    ['the first-party status', { firstParty: 'true' }],
    ['the name', { name: 'Scheduling' }],
    ['the home page', { clientUri: 'https://evil.example' }],
    ['the privacy policy', { policyUri: 'https://evil.example/privacy' }],
    ['the device grant', { deviceGrant: 'true' }],
    ['the post-logout redirect URIs', { postLogoutRedirectUris: 'https://evil.example/bye' }],
    ['the logout URI', { backchannelLogoutUri: 'https://evil.example/logout' }],
    ['the scopes', { 'scope:bookings:read': 'required' }],
    ['an optional scope', { 'scope:profile:read': 'optional' }],
    ['the subjects', { subject: 'pairwise' }],
    ['the algorithm of ID tokens', { idTokenAlg: 'ES256' }],
    ['pushed requests', { requirePar: 'true' }],
    ['the state parameter', { requireState: 'false' }],
  ])('is every change of %s', async (_, change) => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    app.clock.ahead = 11 * 60_000;
    const fields = { ...fieldsOf(form), ...change };
    const asked = await admin.submit(form, fields, `/applications/${id}/edit`);
    expect([asked.status, asked.headers['location']]).toEqual([303, expect.stringContaining('again=')]);
    const saved = await app.postForm(admin, `/applications/${id}/save`, { ...fields, version: '1' });
    expect([saved.status, saved.headers['location']]).toEqual([303, expect.stringContaining('again=')]);
    expect(await registered(id)).toMatchObject({ version: 1 });
  });

  it('is not a change of contacts', async () => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    app.clock.ahead = 11 * 60_000;
    const fields = { ...fieldsOf(form), contacts: 'rooms@example.com' };
    const preview = await admin.submit(form, fields, `/applications/${id}/edit`);
    expect((await admin.submit(preview, {}, `/applications/${id}/save`)).status).toBe(200);
    expect(await registered(id)).toMatchObject({ contacts: ['rooms@example.com'], version: 2 });
  });

  it('keeps its form during the login', async () => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    const fields = { ...fieldsOf(form), name: 'Rooms', redirectUris: 'https://evil.example/callback' };
    const preview = await admin.submit(form, fields, `/applications/${id}/edit`);
    app.clock.ahead = 11 * 60_000;
    const page = await afterLogin(await admin.submit(preview, {}, `/applications/${id}/save`));
    expect(await registered(id)).toMatchObject({ name: 'Room Finder', version: 1 });
    expect(page.text).toMatch(/name="name"[^>]*value="Rooms"/);
    const again = await admin.submit(page, fields, `/applications/${id}/edit`);
    expect((await admin.submit(again, {}, `/applications/${id}/save`)).status).toBe(200);
    expect(await registered(id)).toMatchObject({ name: 'Rooms', version: 2 });
  });

  it('is refused if it became dangerous after the check, whatever version the form names', async () => {
    const id = await created();
    const form = await admin.get(`/applications/${id}/edit`);
    const fields = { ...fieldsOf(form), contacts: 'rooms@example.com' };
    const preview = await admin.submit(form, fields, `/applications/${id}/edit`);
    app.clock.ahead = 11 * 60_000;
    const database = new pg.Client({ connectionString: app.services.databaseUrl });
    await database.connect();
    await database.query('BEGIN');
    const uris = ['https://moved.example.com/callback'];
    const change = 'UPDATE clients SET redirect_uris = $2, version = version + 1 WHERE client_id = $1';
    await database.query(change, [id, uris]);
    const answer = admin.submit(preview, { version: '2' }, `/applications/${id}/save`);
    await blocked(app);
    await database.query('COMMIT');
    await database.end();
    expect((await answer).status).toBe(409);
    expect(await registered(id)).toMatchObject({ name: 'Room Finder', redirect_uris: uris, version: 2 });
  });
});

describe('the pages of an application', () => {
  it('permit viewers to read, support to disable, and only admins to make other changes', async () => {
    const id = await created();
    const [viewer, support] = [await app.operator('viewer'), await app.operator('support')];
    const status = async (browser: Browser, path: string) => (await browser.get(path)).status;
    for (const browser of [viewer, support]) {
      expect(await status(browser, `/applications/${id}`)).toBe(200);
      for (const page of ['new', `${id}/edit`, `${id}/delete`, `${id}/secrets/new`])
        expect(await status(browser, `/applications/${page}`)).toBe(403);
    }
    // The viewer sends the form of the admin's page.
    const disable = await admin.get(`/applications/${id}/disable`);
    expect((await viewer.submit(disable, {}, `/applications/${id}/disable`)).status).toBe(403);
    const own = await support.get(`/applications/${id}/disable`);
    expect((await support.submit(own, {}, `/applications/${id}/disable`)).status).toBe(200);
  });
});

it('GET /applications/:id answers 404 for an unknown application', async () => {
  expect((await admin.get('/applications/nobody')).status).toBe(404);
});
