import { Browser } from '../support/browser.js';
import { reportSkipped } from '../support/foreign-library.js';
import { becomesRefused } from '../support/tokens.js';
import { CalledRecipe, RecipeFolder, RecipeProduct, SCOPE, type Tokens } from './recipe.js';
import { CLIENT_RECIPES, findLibrariesOf } from './client-recipes.js';
import { type RunningRecipe, startWebRecipe, WEB_RECIPES } from './web-recipe.js';

/** Found before the tests are declared, because the test names contain the versions. */
const [clientRecipes, webRecipes] = [
  await findLibrariesOf(CLIENT_RECIPES),
  await findLibrariesOf(WEB_RECIPES),
];

let product: RecipeProduct;

beforeAll(async () => {
  product = await RecipeProduct.start();
});

afterAll(() => product.close());

const accessTokenOf = ({ access_token, accessToken }: Tokens) => String(access_token ?? accessToken);

for (const { recipe, library } of clientRecipes) {
  if ('missing' in library) {
    reportSkipped(`the recipe ${recipe.heading}`, library);
    continue;
  }

  describe(`the recipe ${recipe.heading}, ${library.version}`, () => {
    let folder: RecipeFolder;
    let called: CalledRecipe;

    const start = async (without?: string) => {
      folder = await RecipeFolder.create(recipe, { driver: recipe.driver, without });
      const env = product.environment(await product.register(), library.env);
      if (recipe.build) await folder.compile(recipe.build(library), env);
      called = new CalledRecipe(folder.path, recipe.start(library), env);
    };

    const end = async () => {
      await called.end();
      await folder.remove();
    };

    const connect = async () => {
      const [url, session] = await called.start();
      return called.finish(await product.allow(url), session);
    };

    describe('as printed', () => {
      beforeAll(() => start());
      afterAll(end);

      // @library authlib @library badgateway @library go @library google-oauth-client @library oauth2
      // @library oauth4webapi @library openid-client @library requests-oauthlib @library simple-oauth2
      it('gets tokens even if the user declines a scope', async () => {
        const [url, session] = await called.start();
        const requested = Object.fromEntries(new URL(url).searchParams);
        expect(requested).toMatchObject({ scope: SCOPE, code_challenge_method: 'S256' });
        expect(requested['state']).toMatch(/^.{20,}$/);
        const tokens = await called.finish(await product.allow(url), session);
        expect(await called.profile(tokens)).toMatchObject({ email: product.email });
        expect([tokens['scope'] ?? 'profile:read'].flat()).toEqual(['profile:read']);
      });

      it('repeats a refresh with the same result, and detects that access has ended', async () => {
        const tokens = await connect();
        const renewed = await called.refresh(tokens);
        expect(accessTokenOf(renewed)).not.toBe(accessTokenOf(tokens));
        expect(accessTokenOf(await called.refresh(tokens))).toBe(accessTokenOf(renewed));
        expect(await called.profile(renewed)).toMatchObject({ email: product.email });
        await called.disconnect(renewed);
        await becomesRefused(product.apiUrl, accessTokenOf(renewed));
        await expect(called.refresh(renewed)).rejects.toMatchObject({ ended: true });
      });

      it('rejects the response to another request', async () => {
        const [url] = await called.start();
        const [, session] = await called.start();
        const callback = await product.allow(url);
        await expect(called.finish(callback, session)).rejects.toMatchObject({ ended: false });
      });
    });

    for (const setting of recipe.needs ?? []) {
      it(`needs ${setting.trim().replaceAll(/\s+/g, ' ')}`, async () => {
        await start(setting);
        await expect(connect().then((tokens) => called.refresh(tokens))).rejects.toThrow();
        await end();
      });
    }
  });
}

for (const { recipe, library } of webRecipes) {
  if ('missing' in library) {
    reportSkipped(`the recipe ${recipe.heading}`, library);
    continue;
  }

  describe(`the recipe ${recipe.heading}, ${library.version}`, () => {
    async function connect(url: string): Promise<string> {
      const browser = new Browser(url);
      const authorizationUrl = (await recipe.begin(browser)).headers['location'] ?? '';
      const page = await browser.open(await product.allow(authorizationUrl));
      return (recipe.shows === undefined ? page : await browser.open(recipe.shows)).text;
    }

    const start = (without?: string) => startWebRecipe(recipe, library, product, { without });

    describe('as printed', () => {
      let application: RunningRecipe;

      beforeAll(async () => {
        application = await start();
      });

      afterAll(() => application.stop());

      // @library authjs @library grant @library mojolicious @library passport-oauth2
      it('connects even if the user declines a scope', async () => {
        expect(await connect(application.url)).toMatch(/profile:read(?! bookings)/);
      });

      it(`sends state${recipe.pkce ? ' and PKCE' : ''}`, async () => {
        const { headers } = await recipe.begin(new Browser(application.url));
        const requested = Object.fromEntries(new URL(headers['location'] ?? '').searchParams);
        expect(requested).toMatchObject({
          scope: SCOPE,
          ...(recipe.pkce && { code_challenge_method: 'S256' }),
        });
        expect(requested['state']).toMatch(/^.{20,}$/);
      });

      it('rejects the response to another request', async () => {
        const [attacker, victim] = [new Browser(application.url), new Browser(application.url)];
        await recipe.begin(victim);
        const { headers } = await recipe.begin(attacker);
        const callback = await product.allow(headers['location'] ?? '');
        expect((await victim.open(callback)).text).not.toContain('profile:read');
        expect(recipe.shows === undefined ? '' : (await victim.open(recipe.shows)).text).not.toContain(
          'profile:read',
        );
      });
    });

    for (const setting of recipe.needs ?? []) {
      it(`needs ${setting.trim().replaceAll(/\s+/g, ' ')}`, async () => {
        const application = await start(setting);
        expect(await connect(application.url).catch(() => 'refused')).not.toContain('profile:read');
        await application.stop();
      });
    }
  });
}
