import type { FoundLibrary } from '../support/foreign-library.js';
import { freePort } from '#local/servers/free-port.js';
import type { Response } from 'supertest';
import type { NewClient } from '#clients/client.store.js';
import type { Browser } from '../support/browser.js';
import { type Recipe, RecipeFolder, type RecipeProduct } from './recipe.js';

export interface ListeningRecipe extends Recipe {
  readonly callback: string;
  readonly driver?: string;
  /** Code to remove for this version of the library. */
  readonly without?: string;
}

export interface WebRecipe extends ListeningRecipe {
  readonly pkce: boolean;
  /** @returns the redirect to the authorization URL */
  readonly begin: (browser: Browser) => Promise<Response>;
  readonly shows?: string;
}

const JAVASCRIPT = {
  file: 'recipe.mjs',
  pkce: true,
  start: ({ command }: FoundLibrary) => [command, 'recipe.mjs'] as const,
};

/** Recipes in the order of docs/integrate.md. */
export const WEB_RECIPES: readonly WebRecipe[] = [
  {
    ...JAVASCRIPT,
    heading: 'passport-oauth2',
    source: 'recipes/passport-oauth2.mjs',
    library: 'passport-oauth2',
    needs: ['state: true,\n  pkce: true,'],
    callback: '/callback',
    begin: (browser) => browser.get('/connect'),
  },
  {
    ...JAVASCRIPT,
    heading: 'Auth.js',
    source: 'recipes/auth-js.mjs',
    library: '@auth/express',
    needs: ["checks: ['pkce', 'state'],", 'issuer: ISSUER,'],
    callback: '/auth/callback/scheduling',
    begin: async (browser) => {
      const { csrfToken } = (await browser.get('/auth/csrf')).body as { csrfToken: string };
      return browser.post('/auth/signin/scheduling', { csrfToken });
    },
    shows: '/auth/session',
  },
  {
    ...JAVASCRIPT,
    heading: 'grant',
    source: 'recipes/grant.mjs',
    library: 'grant',
    needs: ['state: true,'],
    callback: '/connect/scheduling/callback',
    begin: (browser) => browser.get('/connect/scheduling'),
  },
  {
    heading: 'Mojolicious::Plugin::OAuth2',
    source: 'recipes/mojolicious-plugin-oauth2.pl',
    file: 'recipe.pl',
    library: {
      interpreter: 'perl',
      packages: ['libmojolicious-plugin-oauth2-perl'],
      probe:
        'use Mojolicious::Plugin::OAuth2; use Mojolicious::Lite; print "$Mojolicious::Plugin::OAuth2::VERSION"',
    },
    start: ({ command }) => [command, 'recipe.pl'],
    needs: [', state => $state'],
    pkce: false,
    callback: '/callback',
    begin: (browser) => browser.get('/connect'),
  },
];

export interface RunningRecipe {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Registers and starts a web application.
 * @param options `without` is code to remove; `registration` returns client fields for an origin
 */
export async function startWebRecipe(
  recipe: ListeningRecipe,
  library: FoundLibrary,
  product: RecipeProduct,
  options: { without?: string | undefined; registration?: (origin: string) => Partial<NewClient> } = {},
): Promise<RunningRecipe> {
  const folder = await RecipeFolder.create(recipe, { ...recipe, without: options.without ?? recipe.without });
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const registration = options.registration?.(url);
  const settings = await product.register('confidential', url + recipe.callback, registration);
  const env = { ...product.environment(settings, library.env), APP_URL: url, PORT: port };
  const { stop } = await folder.start(recipe, library, env, url);
  return { url, stop };
}
