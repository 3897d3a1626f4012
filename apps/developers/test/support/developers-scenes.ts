import type { Browser as Chromium, BrowserContextOptions, Page } from 'playwright-core';
import { freePort } from '#local/servers/free-port.js';
import { ClientKey } from '#test/support/keys.js';
import { startDevelopersApp } from './start-developers-app.js';

/** Opens a page of the portal in a certain state. */
type Scene = (page: Page) => Promise<unknown>;

const LONG_NAME =
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft, Room Finder'.slice(
    0,
    100,
  );

/** Starts a portal with applications in each state. @returns the scenes of its pages */
export async function openDevelopersScenes() {
  const PORT = await freePort();
  const origin = `http://localhost:${PORT}`;
  const portal = await startDevelopersApp({ PORT, DEVELOPERS_URL: origin });
  const sql = (text: string, values: unknown[]) => portal.fixture.sql(text, values);
  const { browser, userId } = await portal.developer();
  const id = await portal.application(browser, {
    name: LONG_NAME,
    redirectUris: `https://rooms.example.com/${'deeply/nested/'.repeat(12)}callback`,
  });
  const live = await portal.application(browser, { application: 'device', redirectUris: '' });
  await sql(`UPDATE clients SET stage = 'live' WHERE client_id = $1`, [live]);
  await sql(`UPDATE client_requests SET status = 'approved', decided_at = now() WHERE client_id = $1`, [
    live,
  ]);
  const change = {
    name: 'Hall Finder',
    contacts: 'halls@rooms.example.com',
    purpose: 'Halls.',
    scope: 'profile:read',
  };
  await portal.postForm(browser, `/applications/${live}/change`, { ...change, action: 'send' });
  await portal.postForm(browser, '/requests', { name: 'A draft', action: 'save' });
  const tester = await portal.fixture.user();
  await sql('INSERT INTO client_testers (client_id, user_id) VALUES ($1, $2)', [id, tester]);
  await portal.postForm(browser, `/applications/${id}/invitations`, { kind: 'owner' });
  const colleague = await portal.developer();
  const tested = await portal.application(colleague.browser);
  await sql('INSERT INTO client_testers (client_id, user_id) VALUES ($1, $2)', [tested, userId]);
  const invited = await portal.postForm(colleague.browser, `/applications/${tested}/invitations`, {
    kind: 'owner',
  });
  const [invitation = ''] = /\/invitation\?token=[\w-]{43}/.exec(invited.text) ?? [];
  const requests = (await sql(
    `SELECT id, client_id AS "clientId", status FROM client_requests WHERE user_id = $1`,
    [userId],
  )) as readonly { readonly id: string; readonly clientId: string | null; readonly status: string }[];
  const requestOf = (clientId: string | null) =>
    requests.find((request) => request.clientId === clientId)?.id ?? '';
  await sql(
    `INSERT INTO client_request_messages (request_id, author, name, text) VALUES
       ($1, 'operator', 'grace', 'Which rooms?'), ($1, 'owner', 'ada', $2)`,
    [requestOf(id), 'All rooms.\nAlso halls.'],
  );
  await sql(`UPDATE client_requests SET status = 'question' WHERE id = $1`, [requestOf(id)]);
  const [secret] = (await sql('SELECT id FROM client_secrets WHERE client_id = $1', [id])) as {
    id: string;
  }[];

  const [withKeys, withUri] = [await portal.application(browser), await portal.application(browser)];
  await sql('UPDATE client_secrets SET revoked_at = now() WHERE client_id = ANY($1)', [[withKeys, withUri]]);
  const keys = await Promise.all([ClientKey.generate(), ClientKey.generate('PS256', 'k'.repeat(60))]);
  await sql('UPDATE clients SET jwks = $2 WHERE client_id = $1', [
    withKeys,
    JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }),
  ]);
  await sql('UPDATE clients SET jwks_uri = $2 WHERE client_id = $1', [
    withUri,
    `https://rooms.example.com/${'long/'.repeat(20)}jwks.json`,
  ]);

  const refusal = await portal.refusal(id);
  await sql(
    `WITH stream AS (
       INSERT INTO event_streams (client_id, delivery, endpoint_url, events_requested, status, status_reason, failing_since)
       VALUES ($1, 'push', 'https://rooms.example.com/events', '{tokens-revoked,account-disabled}', 'paused', 'the receiver has failed for a day', now())
       RETURNING id)
     INSERT INTO events (stream_id, type, txn, attempts, answer, outcome, finished_at)
     SELECT id, 'tokens-revoked', gen_random_uuid(), 3, 'status 500', NULL, NULL FROM stream
     UNION ALL SELECT id, 'verification', gen_random_uuid(), 1, NULL, 'delivered', now() FROM stream`,
    [id],
  );
  await portal.refusal(id, { cause: 'code_expired', at: new Date(Date.now() - 86_400_000), detail: {} });
  for (const [type, check, count] of [
    ['token.issued', '', 30],
    ['token.refreshed', '', 12],
    ['request.refused', 'redirect_uri_mismatch', 9],
  ])
    await sql(
      `INSERT INTO audit_counts
       SELECT $1, date_trunc('hour', now()) - n * interval '1 hour', $2, $3, '', $4::integer + n % 7, now(), now(), NULL
       FROM generate_series(0, 400, 5) n`,
      [id, type, check, count],
    );

  const at =
    (path: string): Scene =>
    (page) =>
      page.goto(origin + path);
  const pressed =
    (path: string, button: string, fields: Readonly<Record<string, string>> = {}): Scene =>
    async (page) => {
      await page.goto(origin + path);
      for (const [name, value] of Object.entries(fields)) await page.fill(`[id="${name}"]`, value);
      await page.locator('main').getByRole('button', { name: button, exact: true }).first().click();
      await page.waitForLoadState();
    };
  /** Opens the page of the flow after the browser has returned with these parameters. */
  const returnedWith =
    (parameters: Readonly<Record<string, string>>): Scene =>
    async (page) => {
      await page.goto(`${origin}/applications/${id}/try`);
      await page.locator('#start').getByRole('button').click();
      await page.waitForLoadState();
      const request = new URL((await page.locator('#start a.button').getAttribute('href')) ?? '')
        .searchParams;
      const url = new URL(request.get('redirect_uri') ?? '');
      const sent = { state: request.get('state') ?? '', iss: portal.configuration.BASE_URL, ...parameters };
      url.search = new URLSearchParams(sent).toString();
      await page.fill('[id="address"]', url.href);
      await page.locator('#return').getByRole('button').click();
      await page.waitForLoadState();
    };
  const scenes: Readonly<Record<string, Scene>> = {
    list: at('/'),
    'new request': at('/requests/new'),
    'request, problems': pressed('/requests/new', 'Submit for review', {
      clientUri: 'http://rooms.example.com',
    }),
    draft: at(`/requests/${requestOf(null)}?note=saved`),
    question: at(`/requests/${requestOf(id)}`),
    'proposed change': at(`/requests/${requests.find(({ status }) => status === 'submitted')?.id ?? ''}`),
    'application in testing': at(`/applications/${id}`),
    'live application': at(`/applications/${live}`),
    integrate: at(`/applications/${id}/integrate`),
    'integrate, device': at(`/applications/${live}/integrate`),
    activity: at(`/applications/${id}/activity`),
    'activity, invalid query': at(`/applications/${id}/activity?reference=short`),
    'refused request': at(`/applications/${id}/activity/${refusal.id}`),
    events: at(`/applications/${id}/events`),
    'no events': at(`/applications/${live}/events`),
    try: at(`/applications/${live}/try`),
    'try, started': pressed(`/applications/${id}/try`, 'Create the request'),
    'try, other state': returnedWith({ state: 'other' }),
    'try, refused': returnedWith({ error: 'invalid_scope', error_reference: refusal.reference }),
    'try, exchanged': async (page) => {
      await returnedWith({ code: 'sac_code' })(page);
      await page.fill('[id="secret-exchange"]', 'scs_secret');
      await page.locator('#exchange').getByRole('button').click();
      await page.waitForLoadState();
    },
    team: at(`/applications/${id}/team`),
    invited: pressed(`/applications/${id}/team`, 'Invite a tester'),
    'invited by mail': pressed(`/applications/${id}/team`, 'Invite a tester', { email: 'grace@example.com' }),
    removal: at(`/applications/${id}/team/tester/${tester}/remove`),
    'invitation, unknown': at('/invitation/accept'),
    invitation: at(invitation),
    'end of a test': at(`/tests/${tested}/leave`),
    history: at(`/applications/${live}/history`),
    change: at(`/applications/${live}/change`),
    difference: pressed(`/applications/${live}/change`, 'Review the change', { name: 'Hall Finder' }),
    'new secret': at(`/applications/${id}/secrets/new`),
    'secret created': pressed(`/applications/${id}/secrets/new`, 'Create a secret'),
    'secret revocation': at(`/applications/${id}/secrets/${secret?.id}/revoke`),
    'application with keys': at(`/applications/${withKeys}`),
    keys: at(`/applications/${withKeys}/keys`),
    'application with a jwks_uri': at(`/applications/${withUri}`),
    jwks_uri: at(`/applications/${withUri}/keys`),
    'new keys': at(`/applications/${withKeys}/keys/change`),
    'new keys, problem': pressed(`/applications/${withKeys}/keys/change`, 'Register these keys', {
      jwks: 'no',
    }),
    'keys in place of secrets': at(`/applications/${id}/keys/change`),
    'removal of keys': at(`/applications/${withKeys}/keys/remove`),
    deletion: at(`/applications/${id}/delete`),
    'not found': at('/applications/sc_unknown'),
  };

  return {
    portal,
    origin,
    scenes,

    /** Opens a tab in which the owner has just logged in. */
    async tab(chromium: Chromium, options: BrowserContextOptions): Promise<Page> {
      await portal.resetRateLimits();
      const owner = portal.browser();
      await portal.logIn(owner, userId);
      return this.tabOf(chromium, owner.cookies, options);
    },

    async tabOf(
      chromium: Chromium,
      cookies: Iterable<readonly [string, string]>,
      options: BrowserContextOptions,
    ): Promise<Page> {
      const context = await chromium.newContext({ locale: 'en', ...options });
      await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: origin })));
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      return page;
    },

    close: () => portal.close(),
  };
}

export type DevelopersScenes = Awaited<ReturnType<typeof openDevelopersScenes>>;
