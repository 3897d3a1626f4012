import { type Browser as Chromium } from 'playwright-core';
import { Browser } from '../support/browser.js';
import { launchBrowser } from '../support/chromium.js';
import { reportSkipped } from '../support/foreign-library.js';
import { logInAt, serveApplication, type ServedApplication } from './browser-application.js';
import type { NewClient } from '#clients/client.store.js';
import { findLibrariesOf } from './client-recipes.js';
import { RecipeProduct } from './recipe.js';
import { BROWSER_APPLICATIONS, RELYING_PARTIES } from './relying-parties.js';
import { type RunningRecipe, startWebRecipe } from './web-recipe.js';

/** Found before the tests are declared, because the test names contain the versions. */
const [relyingParties, browserApplications] = [
  await findLibrariesOf(RELYING_PARTIES),
  await findLibrariesOf(BROWSER_APPLICATIONS),
];

const registration = (origin: string): Partial<NewClient> => ({
  scopes: ['openid', 'profile', 'email'],
  optionalScopes: [],
  postLogoutRedirectUris: [`${origin}/`],
  backchannelLogoutUri: null,
});

let product: RecipeProduct;
let sub: string;

beforeAll(async () => {
  product = await RecipeProduct.start();
  sub = await product.verifyEmail();
});

afterAll(() => product.close());

for (const { recipe, library } of relyingParties) {
  if ('missing' in library) {
    reportSkipped(`the recipe ${recipe.heading}`, library);
    continue;
  }

  describe(`the relying party ${recipe.heading}, ${library.version}`, () => {
    const start = (without?: string) => startWebRecipe(recipe, library, product, { without, registration });

    const logIn = async (browser: Browser): Promise<string> => {
      const { headers, text } = await recipe.begin(browser);
      if (headers['location'] === undefined) throw new Error(`no redirect to the provider, but: ${text}`);
      const callback = await product.allow(headers['location'], browser);
      return (await browser.open(callback)).text;
    };

    describe('as printed', () => {
      let application: RunningRecipe;

      beforeAll(async () => {
        application = await start();
      });

      afterAll(() => application?.stop());

      // @library authjs @library authlib @library express-openid-connect @library go-oidc
      // @library mod-auth-openidc @library openid-client @library passport-openidconnect @library spring-security
      it('logs the user in and reads UserInfo', async () => {
        expect(await logIn(new Browser(application.url))).toContain(`Logged in as ${sub}, ${product.email}`);
      });

      if (recipe.refresh !== undefined)
        it('accepts the ID token of a refresh', async () => {
          const browser = new Browser(application.url);
          await logIn(browser);
          expect((await browser.get(recipe.refresh!)).text).toBe(`Refreshed for ${sub}`);
        });

      if (recipe.logout)
        it('logs the user out at the service', async () => {
          const browser = new Browser(application.url);
          await logIn(browser);
          const { headers } = await browser.get(recipe.logout!(`${application.url}/`));
          const { headers: returned } = await browser.get(headers['location'] ?? '');
          expect(returned['location']).toMatch(new RegExp(`^${application.url}/(\\?|$)`));
          const restarted = await recipe.begin(browser);
          const { headers: redirected } = await browser.follow(restarted);
          expect(redirected['location']).toContain('/auth/login');
        });
    });

    for (const setting of recipe.needs ?? [])
      it(`needs ${setting.trim().replaceAll(/\s+/g, ' ')}`, async () => {
        const application = await start(setting).catch(() => undefined);
        const text = application
          ? await logIn(new Browser(application.url)).catch(() => 'refused')
          : 'refused';
        expect(text).not.toContain(`Logged in as ${sub}, ${product.email}`);
        await application?.stop();
      });
  });
}

describe('browser applications', () => {
  let browser: Chromium;

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  afterAll(() => browser.close());

  for (const { recipe, library } of browserApplications) {
    if ('missing' in library) {
      reportSkipped(`the recipe ${recipe.heading}`, library);
      continue;
    }

    describe(`the relying party ${recipe.heading}, ${library.version}`, () => {
      let application: ServedApplication;

      beforeAll(async () => {
        application = await serveApplication(recipe, product, registration);
      });

      afterAll(() => application.close());

      // @library angular-oauth2-oidc @library oidc-client-ts
      it('supports login, UserInfo, refresh and logout', async () => {
        const page = await logInAt(application, product, browser);
        await page.getByText(`Logged in as ${sub}, ${product.email}`).waitFor();
        await page.locator('#refresh').click();
        await page.getByText(`Refreshed for ${sub}`).waitFor();
        await page.locator('#logout').click();
        await page.waitForURL(new RegExp(`^${application.origin}/(\\?|$)`));
        await page.locator('#login').click();
        await page.locator('#password').waitFor();
        await page.context().close();
      });

      for (const setting of recipe.needs ?? [])
        it(`needs ${setting.trim().replaceAll(/\s+/g, ' ')}`, async () => {
          const without = await serveApplication(recipe, product, registration, setting);
          const page = await (await browser.newContext()).newPage();
          const failed = Promise.any([page.waitForEvent('pageerror'), page.waitForURL(/[?&#]error=/)]);
          await page.goto(without.origin);
          await page.locator('#login').click();
          await failed;
          await page.context().close();
          without.close();
        });
    });
  }
});
