import type { Browser, BrowserContext, Page } from 'playwright-core';
import { withDatabase } from '#test/support/test-database.js';
import { complaintsOf, launchBrowser } from '#test/support/chromium.js';
import { EventStreamStore } from '#events/event-stream.store.js';
import { type RunningProduct, startProduct, withStores } from '#test/end-to-end/running-product.js';

let product: RunningProduct;
let browser: Browser;

beforeAll(async () => {
  [product, browser] = await Promise.all([
    startProduct({ OUTSIDE_FETCH_ALLOW: 'localhost,127.0.0.1,::1' }),
    launchBrowser(),
  ]);
});

// Every test starts with a user who has no grants.
beforeEach(() => withDatabase(product.databaseUrl, (client) => client.query('DELETE FROM grants')));

afterAll(async () => {
  await browser?.close();
  await product?.close();
});

/** Opens a browser and collects its console errors, such as a blocked style or form. */
async function visit(
  at = product,
  options: { javaScriptEnabled?: boolean } = {},
): Promise<{
  page: Page;
  context: BrowserContext;
  complaints: string[];
  code: () => string;
}> {
  const context = await browser.newContext({ locale: 'en', ...options });
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  let code = '';
  page.on('request', (request) => {
    code = new URL(request.url()).searchParams.get('code') ?? code;
  });
  await page.goto(at.demoUrl);
  return { page, context, complaints, code: () => code };
}

async function logIn(page: Page): Promise<void> {
  const { run } = product;
  await page.getByRole('button', { name: 'Connect your calendar' }).click();
  await page.locator('input[name=username]').fill(run.user.email);
  await page.locator('input[name=password]').fill(run.user.password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

async function connect(page: Page): Promise<void> {
  await logIn(page);
  await page.getByRole('button', { name: 'Allow' }).click();
  await heading(page, 'Your calendar is connected');
}

async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}

const expiry = (page: Page) => page.locator('time').first().getAttribute('datetime');

describe.each([
  { name: 'with JavaScript', javaScriptEnabled: true },
  { name: 'without JavaScript', javaScriptEnabled: false },
])('a demo calendar $name', ({ javaScriptEnabled }) => {
  it('can be connected, refreshed and disconnected', async () => {
    const { page, context, complaints } = await visit(product, { javaScriptEnabled });
    await connect(page);

    expect(page.url()).toBe(`${product.demoUrl}/`);
    const shown = await page.locator('dl').innerText();
    expect(shown).toContain('Ada <b>Lovelace</b>');
    expect(shown).toContain('ada@example.com');
    expect(shown).toContain('Europe/London');
    const before = await expiry(page);
    expect(Date.parse(before ?? '')).toBeGreaterThan(Date.now());

    await page.getByRole('button', { name: 'Refresh tokens' }).click();
    await page.getByText('Tokens refreshed').waitFor();
    expect(Date.parse((await expiry(page)) ?? '')).toBeGreaterThan(Date.parse(before ?? ''));

    await page.getByRole('button', { name: 'Disconnect' }).click();
    await heading(page, 'Your calendar is disconnected');
    await page.getByRole('link', { name: 'Back to home' }).click();
    await page.getByRole('button', { name: 'Connect your calendar' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('stays unconnected if the user denies access, and can be connected later', async () => {
    const { page, context, complaints } = await visit(product, { javaScriptEnabled });
    await logIn(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await heading(page, 'Your calendar is not connected');
    expect(page.url()).toBe(`${product.demoUrl}/denied`);

    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    await heading(page, 'Your calendar is connected');
    expect(complaints).toEqual([]);
    await context.close();
  });
});

it('the demo app connects again after a login, without a new consent', async () => {
  const { page: first, context: before } = await visit();
  await connect(first);
  await before.close();
  const { page, context, complaints } = await visit();
  await logIn(page);
  await heading(page, 'Your calendar is connected');
  expect(complaints).toEqual([]);
  await context.close();
});

it('the demo app can be connected with the keyboard alone', async () => {
  const { page, context } = await visit();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('input[name=username]').waitFor();
  await page.locator('input[name=username]').focus();
  await page.keyboard.type(product.run.user.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(product.run.user.password);
  await page.keyboard.press('Enter');
  // The button is enabled only after the page has been visible for a moment.
  await page.getByRole('button', { name: 'Allow' }).click({ trial: true });
  await page.getByRole('button', { name: 'Allow' }).focus();
  await page.keyboard.press('Enter');
  await heading(page, 'Your calendar is connected');
  await context.close();
});

it('the demo app replaces its HttpOnly session cookie after the connection', async () => {
  const { page, context } = await visit();
  const session = async () =>
    (await context.cookies(product.demoUrl)).find(({ name }) => name === 'demo_session');
  const before = await session();
  expect(before).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
  await connect(page);
  expect((await session())?.value).not.toBe(before?.value);
  await context.close();
});

it('the demo app stays connected when two tabs refresh concurrently', async () => {
  const { page, context } = await visit();
  await connect(page);
  const tab = await context.newPage();
  await tab.goto(product.demoUrl);
  await Promise.all([page, tab].map((view) => view.getByRole('button', { name: 'Refresh tokens' }).click()));
  await Promise.all([page, tab].map((view) => view.getByText('Tokens refreshed').waitFor()));
  await context.close();
});

it('no page, response header or cookie of the demo app contains a token, a code or the client secret', async () => {
  const { page, context } = await visit();
  const seen: string[] = [];
  const bodies: Promise<string>[] = [];
  page.on('response', (response) => {
    if (!response.url().startsWith(product.demoUrl)) return;
    seen.push(JSON.stringify(response.headers()));
    // The browser may drop the body of a page after navigation. `page.content()` is checked in addition.
    if (response.status() === 200) bodies.push(response.text().catch(() => ''));
  });
  seen.push(await page.content());
  await connect(page);
  seen.push(await page.content());
  await page.getByRole('button', { name: 'Refresh tokens' }).click();
  await page.getByText('Tokens refreshed').waitFor();
  seen.push(await page.content(), JSON.stringify(await context.cookies()), page.url());
  seen.push(...(await Promise.all(bodies)));
  // Pages contain random values of at most 43 characters, which may contain a token prefix by chance.
  expect(seen.join('\n')).not.toMatch(/s(ac|at|rt|cs)_[\w-]{43}|(?<![\w-])s(ac|at|rt|cs)_\w/);
  await context.close();
});

it('the demo app reports a lost connection after the grant is revoked', async () => {
  const { page, context, code } = await visit();
  await connect(page);
  // RFC 6749 4.1.2: the second use of a code revokes its tokens.
  const replay = await fetch(`${product.run.base_url}/api/auth/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'authorization_code', code: code(), ...product.run.client }),
  });
  expect(replay.status).toBe(400);
  await page.getByRole('button', { name: 'Refresh tokens' }).click();
  await heading(page, 'Your calendar is no longer connected');
  await page.getByRole('link', { name: 'Back to home' }).click();
  await page.getByRole('button', { name: 'Connect your calendar' }).waitFor();
  await context.close();
});

it('the demo app shows the end of its access as it arrives, and forgets the connection', async () => {
  const endpointUrl = `${product.demoUrl}/events`;
  await withStores(product.databaseUrl, (stores) =>
    stores.get(EventStreamStore).register(product.run.client.client_id, endpointUrl),
  );
  const { page, context } = await visit();
  await connect(page);
  await page.getByRole('link', { name: 'Events from Scheduling' }).click();
  await page.getByText('None yet').waitFor();
  const account = await context.newPage();
  await account.goto(`${product.run.auth_url}/auth/apps`);
  await account.getByRole('link', { name: 'Remove access' }).first().click();
  await account.getByRole('button', { name: 'Remove access' }).click();
  await page.getByText('tokens-revoked').waitFor();
  await page.getByRole('link', { name: 'Back to home' }).click();
  await page.getByRole('button', { name: 'Connect your calendar' }).waitFor();
  await context.close();
});

it('the demo app refuses an event that the service did not sign', async () => {
  const answer = await fetch(`${product.demoUrl}/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/secevent+jwt' },
    body: 'eyJhbGciOiJub25lIiwidHlwIjoic2VjZXZlbnQrand0In0.e30.',
  });
  expect(answer.status).toBe(400);
});

it('the demo app redirects from 127.0.0.1 to the registered host, and can be connected there', async () => {
  const elsewhere = product.demoUrl.replace('localhost', '127.0.0.1');
  const moved = await fetch(`${elsewhere}/denied?a=b`, { redirect: 'manual' });
  expect([moved.status, moved.headers.get('location')]).toEqual([307, `${product.demoUrl}/denied?a=b`]);
  expect(moved.headers.getSetCookie()).toEqual([]);
  const { page, context } = await visit({ ...product, demoUrl: elsewhere });
  expect(page.url()).toBe(`${product.demoUrl}/`);
  await connect(page);
  await context.close();
});

it('the demo app stays connected when the user goes back to the consent page', async () => {
  const { page, context } = await visit();
  await connect(page);
  // The user has already allowed access, so this second authorization response needs no click.
  await page.goBack();
  await heading(page, 'Your calendar is connected');
  expect(page.url()).toBe(`${product.demoUrl}/`);
  await context.close();
});

describe('an authorization response at /callback', () => {
  /** Clicks Connect. Returns the browser's cookie, and the state of the authorization request. */
  async function startConnecting(): Promise<{ cookie: string; state: string }> {
    const start = await fetch(product.demoUrl);
    const cookie = start.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const formToken = /name="form_token" value="([^"]+)"/.exec(await start.text())?.[1] ?? '';
    const sent = await fetch(`${product.demoUrl}/connect`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ form_token: formToken }),
      redirect: 'manual',
    });
    const url = new URL(sent.headers.get('location') ?? '');
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    return { cookie, state: url.searchParams.get('state') ?? '' };
  }

  function answer(cookie: string, query: Record<string, string>): Promise<Response> {
    return fetch(`${product.demoUrl}/callback?${new URLSearchParams(query).toString()}`, {
      headers: { cookie },
      redirect: 'manual',
    });
  }

  it('is rejected in another browser', async () => {
    const [victim, thief] = await Promise.all([startConnecting(), startConnecting()]);
    const response = await answer(victim.cookie, {
      code: 'x',
      state: thief.state,
      iss: product.run.base_url,
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('This response is not valid');
  });

  it('is rejected when it is sent again', async () => {
    const { cookie, state } = await startConnecting();
    const query = { error: 'access_denied', state, iss: product.run.base_url };
    expect((await answer(cookie, query)).headers.get('location')).toBe('/denied');
    expect((await answer(cookie, query)).status).toBe(400);
  });

  it.each([['https://evil.example.com'], [undefined]])('is rejected with the issuer %s', async (iss) => {
    const { cookie, state } = await startConnecting();
    const response = await answer(cookie, { code: 'x', state, ...(iss !== undefined && { iss }) });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('This response is not valid');
  });

  it('leads to instructions if its code is invalid', async () => {
    const { cookie, state } = await startConnecting();
    const response = await answer(cookie, { code: 'nonsense', state, iss: product.run.base_url });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('Please connect again');
  });

  it('leads to a page with its error code and without its description', async () => {
    const { cookie, state } = await startConnecting();
    const response = await answer(cookie, {
      error: 'invalid_scope',
      error_description: '<script>alert(1)</script>',
      state,
      iss: product.run.base_url,
    });
    const text = await response.text();
    expect(text).toContain('invalid_scope');
    expect(text).not.toContain('alert');
  });
});

describe('a form of the demo app', () => {
  it.each(['/connect', '/refresh', '/disconnect'])(
    'is rejected at %s without its CSRF token',
    async (path) => {
      const start = await fetch(product.demoUrl);
      const cookie = start.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      for (const body of [new URLSearchParams(), new URLSearchParams({ form_token: 'guess' })]) {
        const response = await fetch(product.demoUrl + path, { method: 'POST', headers: { cookie }, body });
        expect(response.status).toBe(403);
      }
    },
  );
});

it('every page of the demo app forbids scripts, frames, caching and referrers', async () => {
  for (const path of ['/', '/denied', '/disconnected/forgotten', '/callback', '/nowhere']) {
    const { headers } = await fetch(product.demoUrl + path);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';style-src 'sha256-/);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

// Runs last, because it stops the apps.
it('the demo app shows an error page and keeps the connection while the services are down', async () => {
  const { page, context } = await visit();
  await connect(page);
  await product.stop('token');
  await page.getByRole('button', { name: 'Refresh tokens' }).click();
  await heading(page, 'Scheduling is not responding');
  await product.stop('resource');
  const response = await page.goto(product.demoUrl);
  expect(response?.status()).toBe(502);
  await heading(page, 'Scheduling is not responding');
  expect(await page.content()).not.toMatch(/ECONN|at \w+ \(|stack/);
  await context.close();
});
