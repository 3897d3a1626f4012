import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ClientStore, type NewClient } from '#database/client/client.store.js';
import { generateClientSecret } from '#oauth/client.js';
import type { MissingLibrary } from '#testing/foreign-library.js';
import { freePort } from '#testing/backing/free-port.js';
import { type GuardedProcess } from '#testing/backing/guarded-process.js';
import { becomesRefused } from '#testing/refused-token.js';
import { allow } from './allow.js';
import { CalledRecipe, type Tokens } from './recipes/called-recipe.js';
import { CLIENT_RECIPES } from './recipes/client-recipes.js';
import { compile, findLibrariesOf, type Recipe, recipeFolder, removeRecipe } from './recipes/recipe.js';
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

/** Found before the tests are declared, because their names contain the version. */
const [clientRecipes, webRecipes] = [
  await findLibrariesOf(CLIENT_RECIPES),
  await findLibrariesOf(WEB_RECIPES),
];

/** Declares a test that says why there is no other. */
function reportMissing({ heading, library }: Recipe, { missing }: MissingLibrary): void {
  it(`the recipe ${heading} is not tested: ${missing}`, () => {
    process.stderr.write(`The recipe ${heading} was not tried: ${missing}\n`);
    for (const wanted of typeof library === 'string' ? [library] : library.packages)
      expect(missing).toContain(wanted);
  });
}

for (const { recipe, library } of clientRecipes) {
  if ('missing' in library) {
    reportMissing(recipe, library);
    continue;
  }

  describe(`the recipe ${recipe.heading}, ${library.version}`, () => {
    let folder: string;
    let called: CalledRecipe;

    beforeAll(async () => {
      folder = await recipeFolder(recipe, recipe.driver);
      const settings = await register({ type: 'confidential', redirectUris: [REDIRECT_URI] });
      const env = environment(settings, library.env);
      if (recipe.build) await compile(folder, recipe.build(library), env);
      called = new CalledRecipe(folder, recipe.start(library), env);
    });

    afterAll(async () => {
      await called?.end();
      await removeRecipe(folder);
    });

    it('sends state and PKCE, and gets tokens although the user declines a scope', async () => {
      const [url, session] = await called.start();
      const asked = Object.fromEntries(new URL(url).searchParams);
      expect(asked).toMatchObject({ scope: SCOPE, code_challenge_method: 'S256' });
      expect(asked['state']).toMatch(/^.{20,}$/);
      const tokens = await called.finish(await allowed(url), session);
      expect(await called.profile(tokens)).toMatchObject({ email: product.run.user.email });
      expect([tokens['scope'] ?? 'profile:read'].flat()).toEqual(['profile:read']);
    });

    it('refreshes, gets the same tokens for a repeated refresh, and learns that access has ended', async () => {
      const [url, session] = await called.start();
      const tokens = await called.finish(await allowed(url), session);
      const renewed = await called.refresh(tokens);
      expect(accessTokenOf(renewed)).not.toBe(accessTokenOf(tokens));
      expect(accessTokenOf(await called.refresh(tokens))).toBe(accessTokenOf(renewed));
      expect(await called.profile(renewed)).toMatchObject({ email: product.run.user.email });
      await called.disconnect(renewed);
      await becomesRefused(apiUrl(), accessTokenOf(renewed));
      await expect(called.refresh(renewed)).rejects.toMatchObject({ ended: true });
    });

    it('refuses the answer to a request that it did not make', async () => {
      const [url] = await called.start();
      const [, session] = await called.start();
      const callback = await allowed(url);
      await expect(called.finish(callback, session)).rejects.toMatchObject({ ended: false });
    });
  });
}

for (const { recipe, library } of webRecipes) {
  if ('missing' in library) {
    reportMissing(recipe, library);
    continue;
  }

  describe(`the recipe ${recipe.heading}, ${library.version}`, () => {
    let folder: string;
    let application: GuardedProcess;
    let url: string;

    beforeAll(async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      folder = await recipeFolder(recipe);
      const settings = await register({ type: 'confidential', redirectUris: [url + recipe.callback] });
      const env = { ...environment(settings, library.env), PORT: String(port) };
      application = await startWebRecipe(folder, recipe.start(library), env);
    });

    afterAll(async () => {
      await application?.stop();
      await removeRecipe(folder);
    });

    it(`sends state${recipe.pkce ? ' and PKCE' : ''}, and is connected although the user declines a scope`, async () => {
      const browser = new Browser(url);
      const authorizationUrl = (await recipe.begin(browser)).headers.get('location') ?? '';
      const asked = Object.fromEntries(new URL(authorizationUrl).searchParams);
      expect(asked).toMatchObject({ scope: SCOPE, ...(recipe.pkce && { code_challenge_method: 'S256' }) });
      expect(asked['state']).toMatch(/^.{20,}$/);
      const page = await browser.open((await allowed(authorizationUrl)).href);
      expect(recipe.shows === undefined ? page : await browser.open(recipe.shows)).toMatch(
        /profile:read(?! bookings)/,
      );
    });

    it('refuses the answer to a request that it did not make', async () => {
      const [attacker, victim] = [new Browser(url), new Browser(url)];
      await recipe.begin(victim);
      const callbackUrl = await allowed((await recipe.begin(attacker)).headers.get('location') ?? '');
      const page = await victim.open(callbackUrl.href);
      expect(page).not.toContain('profile:read');
      expect(recipe.shows === undefined ? '' : await victim.open(recipe.shows)).not.toContain('profile:read');
    });
  });
}

describe('the recipe A desktop or command-line application', () => {
  it('connects at a port that it did not register, as a public client', async () => {
    const folder = await recipeFolder({
      heading: 'A desktop or command-line application',
      file: 'recipe.mjs',
    });
    const settings = await register({ type: 'public', redirectUris: ['http://127.0.0.1/callback'] });
    const { CLIENT_SECRET: _none, ...env } = environment(settings, process.env);
    const application = spawn(process.execPath, ['recipe.mjs'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(application.stdout)[Symbol.asyncIterator]();
    const address = String((await lines.next()).value).replace(/^.*: /, '');
    const callback = await allowed(address);
    expect(callback.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(callback)).status).toBe(200);
    expect((await lines.next()).value).toBe(`Connected as ${product.run.user.email}`);
    expect(await once(application, 'exit')).toEqual([0, null]);
    await removeRecipe(folder);
  });
});
