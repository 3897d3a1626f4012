import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { freePort } from '#local/servers/free-port.js';
import { complaintsOf, launchBrowser } from '../support/chromium.js';
import { withDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { type RunningProduct, startProduct } from '../end-to-end/running-product.js';

const ADA = ['ada@almanac.example', 'analytical engine'] as const;
const GRACE = ['grace@almanac.example', 'first compiler'] as const;

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

describe.each([
  { name: 'on the same site as this service', host: 'localhost' },
  { name: 'on another site', host: '127.0.0.1' },
])('the login of examples/product, $name', ({ host }) => {
  let service: RunningProduct;
  let product: ChildProcess;
  let productUrl: string;

  beforeAll(async () => {
    productUrl = `http://${host}:${await freePort()}`;
    const LOGIN_URL = `${productUrl}/oauth-login`;
    service = await startProduct({}, { LOGIN_URL, LOGIN_JWKS_URL: `${LOGIN_URL}/keys` });
    const env = { AUTH_URL: service.run.auth_url, SITE_URL: productUrl };
    product = spawn(process.execPath, ['examples/product/start.js', 'site'], { env, stdio: 'inherit' });
    await until('the product answers', 60_000, async () => (await fetch(productUrl)).ok);
  });

  beforeEach(() => withDatabase(service.databaseUrl, (client) => client.query('DELETE FROM grants')));

  afterAll(async () => {
    product.kill();
    await once(product, 'exit');
    await service.close();
  });

  async function visit(javaScriptEnabled = true): Promise<{
    page: Page;
    context: BrowserContext;
    addresses: string[];
    complaints: string[];
  }> {
    const context = await browser.newContext({ locale: 'en', javaScriptEnabled });
    const page = await context.newPage();
    const addresses: string[] = [];
    const complaints = complaintsOf(page);
    page.on('request', (request) => addresses.push(request.url()));
    await page.goto(service.demoUrl);
    return { page, context, addresses, complaints };
  }

  const connect = (page: Page) => page.getByRole('button', { name: 'Connect your calendar' }).click();
  const allow = (page: Page) => page.getByRole('button', { name: 'Allow' }).click();
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  async function logIn(page: Page, email: string, password: string): Promise<void> {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  it('shows the application’s name, and returns the product’s user to the application', async () => {
    const { page, context, addresses, complaints } = await visit();
    await connect(page);
    await page.getByRole('heading', { name: 'Log in to continue to Calendar Connect' }).waitFor();
    expect(new URL(page.url()).origin).toBe(productUrl);
    await logIn(page, ...ADA);
    await allow(page);
    await heading(page, 'Your calendar is connected');
    const shown = await page.locator('dl').innerText();
    expect(shown).toContain('Ada Lovelace');
    expect(shown).toContain(ADA[0]);
    // The only JWT in a URL is the challenge.
    const jwts = addresses.flatMap((address) => [...new URL(address).searchParams.entries()]);
    for (const [name, value] of jwts) if (value.startsWith('eyJ')) expect(name).toBe('challenge');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('skips the product’s login page for a logged-in user', async () => {
    const { page, context, complaints } = await visit();
    await page.goto(`${productUrl}/login`);
    await logIn(page, ...GRACE);
    await page.getByText('Hello Grace Hopper').waitFor();
    await page.goto(service.demoUrl);
    await connect(page);
    await allow(page);
    await heading(page, 'Your calendar is connected');
    expect(await page.locator('dl').innerText()).toContain('Grace Hopper');
    // The user has already consented, so the product's form leads to the application without another page.
    await context.clearCookies({ name: /^(?!almanac)/ });
    await page.goto(service.demoUrl);
    await connect(page);
    await heading(page, 'Your calendar is connected');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('works without JavaScript', async () => {
    const { page, context } = await visit(false);
    await connect(page);
    await logIn(page, ...ADA);
    for (let clicks = host === 'localhost' ? 1 : 2; clicks > 0; clicks -= 1)
      await page.getByRole('button', { name: 'Continue' }).click();
    await allow(page);
    await heading(page, 'Your calendar is connected');
    await context.close();
  });

  it('returns access_denied to the application when the user cancels the login', async () => {
    const { page, context } = await visit();
    await connect(page);
    await page.getByRole('link', { name: 'Cancel' }).click();
    await heading(page, 'Your calendar is not connected');
    await context.close();
  });

  it('logs in another user after a click on “Not you?”', async () => {
    const { page, context } = await visit();
    await connect(page);
    await logIn(page, ...ADA);
    await page.getByRole('button', { name: 'Not you? Use another account' }).click();
    await logIn(page, ...GRACE);
    await allow(page);
    await heading(page, 'Your calendar is connected');
    expect(await page.locator('dl').innerText()).toContain('Grace Hopper');
    await context.close();
  });

  it('ends only this session when the user logs out of the product', async () => {
    const [first, second] = [await visit(), await visit()];
    for (const { page } of [first, second]) {
      await connect(page);
      await logIn(page, ...ADA);
      await page.getByRole('button', { name: 'Allow' }).waitFor();
    }
    const account = `${service.run.auth_url}/auth/`;
    await first.page.goto(productUrl);
    await first.page.getByRole('button', { name: 'Log out' }).click();
    await first.page.getByRole('button', { name: 'Log in' }).waitFor();
    await until('the session has ended', 30_000, async () => {
      await first.page.goto(account);
      return first.page.url().startsWith(`${productUrl}/oauth-login`);
    });
    await second.page.goto(account);
    expect(second.page.url()).toBe(account);
    await first.context.close();
    await second.context.close();
  });

  it('rejects the login of a victim who follows an attacker’s link', async () => {
    const attacker = await visit();
    await connect(attacker.page);
    await attacker.page.getByRole('heading', { name: 'Log in to continue to Calendar Connect' }).waitFor();
    const link = attacker.page.url();
    const victim = await visit();
    await victim.page.goto(`${productUrl}/login`);
    await logIn(victim.page, ...ADA);
    await victim.page.getByText('Hello Ada Lovelace').waitFor();
    await victim.page.goto(link);
    await heading(victim.page, 'This login has expired');
    for (const { context } of [attacker, victim])
      expect((await context.cookies()).map(({ name }) => name)).not.toContain('oauth_service_session');
    await attacker.context.close();
    await victim.context.close();
  });

  it.each(['', 'challenge=x', 'challenge=eyJhbGciOiJub25lIn0.e30.', 'challenge=a&challenge=b'])(
    'rejects a challenge that the service did not sign: ?%s',
    async (query) => {
      const answer = await fetch(`${productUrl}/oauth-login?${query}&return_to=https://evil.example/`);
      expect(answer.status).toBe(400);
      expect(await answer.text()).not.toMatch(/<form|evil/);
    },
  );
});
