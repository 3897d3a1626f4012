import { ClientStore, type NewClient } from '#database/client/client.store.js';
import { generateClientSecret } from '#oauth/client.js';
import { freePort } from '#testing/backing/free-port.js';
import { type GuardedProcess } from '#testing/backing/guarded-process.js';
import { becomesRefused } from '#testing/refused-token.js';
import { allow } from './allow.js';
import { CalledRecipe, type Tokens } from './recipes/called-recipe.js';
import { findRecipes } from './recipes/libraries.js';
import { compile, installLibraries, recipeFolder, removeRecipe } from './recipes/recipe.js';
import { Browser, startWebRecipe, WEB_RECIPES } from './recipes/web-recipe.js';
import { TlsFront } from './recipes/tls-front.js';
import { type RunningProduct, startProduct, withStores } from './running-product.js';

const REDIRECT_URI = 'https://app.example.com/callback';
const SCOPE = 'profile:read bookings:read';
const DECLINED = ['allow:bookings:read'];

let product: RunningProduct;
let front: TlsFront;
/** http origins by the https origins that lead there. */
const behind = new Map<string, string>();

beforeAll(async () => {
  front = await TlsFront.create();
  product = await startProduct({}, {}, async (port) => {
    const origin = await front.to(port);
    behind.set(origin, `http://127.0.0.1:${port}`);
    return origin;
  });
});

afterAll(async () => {
  await product.close();
  await front.close();
});

/** The test itself does not trust the certificates, and so goes past them. */
const reach = (url: URL) => new URL(url.pathname + url.search, behind.get(url.origin) ?? url.origin);

const apiUrl = () => reach(new URL(product.run.api_url)).origin;

const allowed = (url: string) => allow(product.run, url, DECLINED, reach);

/** Registers an application whose users may decline to show their bookings. @returns the settings of a recipe */
async function register(client: Pick<NewClient, 'type' | 'redirectUris'>): Promise<Record<string, string>> {
  const { secret, hash } = generateClientSecret();
  const { clientId } = await withStores(product.databaseUrl, (stores) =>
    stores.get(ClientStore).create({
      name: 'Recipe',
      scopes: SCOPE.split(' '),
      optionalScopes: ['bookings:read'],
      ...(client.type === 'confidential' && { secretHash: hash }),
      ...client,
    }),
  );
  const { auth_url, base_url, api_url } = product.run;
  return {
    AUTHORIZATION_URL: `${auth_url}/auth/oauth2/authorize`,
    TOKEN_URL: `${base_url}/api/auth/oauth/token`,
    ISSUER: base_url,
    API_URL: api_url,
    CLIENT_ID: clientId,
    CLIENT_SECRET: secret,
    REDIRECT_URI: client.redirectUris[0] ?? '',
    SESSION_SECRET: 'a secret of this test, longer than 32 characters',
  };
}

/** An environment in which every language trusts our certificates, and uses no proxy. */
function environment(settings: Readonly<Record<string, string>>, base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _ofJest, ...env } = base;
  const trusted = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'MOJO_CA_FILE'];
  const authority = Object.fromEntries(trusted.map((variable) => [variable, front.authority]));
  return { ...env, no_proxy: '*', NO_PROXY: '*', ...authority, ...settings };
}

const accessTokenOf = ({ access_token, accessToken }: Tokens) => String(access_token ?? accessToken);

for (const [{ heading, file, driver, library, build, start }, found] of await findRecipes()) {
  if ('missing' in found) {
    it(`the recipe ${heading} is not tested: ${found.missing}`, () => {
      process.stderr.write(`The recipe ${heading} was not tried: ${found.missing}\n`);
      for (const wanted of library?.packages ?? []) expect(found.missing).toContain(wanted);
    });
    continue;
  }

  describe(`the recipe ${heading}, ${found.version}`, () => {
    let folder: string;
    let recipe: CalledRecipe;

    beforeAll(async () => {
      folder = await recipeFolder(heading, file, driver);
      if (build) await compile(folder, build(found), found.env);
      const settings = await register({ type: 'confidential', redirectUris: [REDIRECT_URI] });
      recipe = new CalledRecipe(folder, start(found), environment(settings, found.env));
    });

    afterAll(async () => {
      await recipe.end();
      await removeRecipe(folder);
    });

    it('sends state and PKCE, and gets tokens although the user declines a scope', async () => {
      const [url, session] = await recipe.begin();
      const asked = Object.fromEntries(new URL(url).searchParams);
      expect(asked).toMatchObject({ scope: SCOPE, code_challenge_method: 'S256' });
      expect(asked['state']).toMatch(/^.{20,}$/);
      const tokens = await recipe.finish(await allowed(url), session);
      expect(await recipe.profile(tokens)).toMatchObject({ email: product.run.user.email });
      expect([tokens['scope'] ?? 'profile:read'].flat()).toEqual(['profile:read']);
    });

    it('refreshes, gets the same tokens for a repeated refresh, and learns that access has ended', async () => {
      const [url, session] = await recipe.begin();
      const tokens = await recipe.finish(await allowed(url), session);
      const renewed = await recipe.refresh(tokens);
      expect(accessTokenOf(renewed)).not.toBe(accessTokenOf(tokens));
      expect(accessTokenOf(await recipe.refresh(tokens))).toBe(accessTokenOf(renewed));
      expect(await recipe.profile(renewed)).toMatchObject({ email: product.run.user.email });
      await recipe.disconnect(renewed);
      await becomesRefused(apiUrl(), accessTokenOf(renewed));
      await expect(recipe.refresh(renewed)).rejects.toMatchObject({ ended: true });
    });

    it('refuses the answer to a request that it did not make', async () => {
      const [url] = await recipe.begin();
      const [, session] = await recipe.begin();
      const callback = await allowed(url);
      await expect(recipe.finish(callback, session)).rejects.toMatchObject({ ended: false });
    });
  });
}

const missing = await installLibraries();
if (missing !== undefined)
  it(`the recipes of web applications are not tested: ${missing}`, () => {
    process.stderr.write(`The recipes of web applications were not tried: ${missing}\n`);
    expect(missing).not.toBe('');
  });
else
  describe.each(WEB_RECIPES)('the recipe $heading', ({ heading, callback, begin, shows }) => {
    let folder: string;
    let application: GuardedProcess;
    let url: string;

    beforeAll(async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      folder = await recipeFolder(heading, 'recipe.mjs');
      const settings = await register({ type: 'confidential', redirectUris: [url + callback] });
      const env = { ...environment(settings, process.env), PORT: String(port) };
      application = await startWebRecipe(folder, process.execPath, ['recipe.mjs'], env);
    });

    afterAll(async () => {
      await application?.stop();
      await removeRecipe(folder);
    });

    it('sends state and PKCE, and is connected although the user declines a scope', async () => {
      const browser = new Browser(url);
      const authorizationUrl = (await begin(browser)).headers.get('location') ?? '';
      const asked = Object.fromEntries(new URL(authorizationUrl).searchParams);
      expect(asked).toMatchObject({ scope: SCOPE, code_challenge_method: 'S256' });
      expect(asked['state']).toMatch(/^.{20,}$/);
      const page = await browser.open((await allowed(authorizationUrl)).href);
      expect(shows === undefined ? page : await browser.open(shows)).toMatch(/profile:read(?! bookings)/);
    });

    it('refuses the answer to a request that it did not make', async () => {
      const [attacker, victim] = [new Browser(url), new Browser(url)];
      await begin(victim);
      const callbackUrl = await allowed((await begin(attacker)).headers.get('location') ?? '');
      const page = await victim.open(callbackUrl.href);
      expect(page).not.toContain('profile:read');
      expect(shows === undefined ? '' : await victim.open(shows)).not.toContain('profile:read');
    });
  });
