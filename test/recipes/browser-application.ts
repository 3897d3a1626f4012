import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { NewClient } from '#clients/client.store.js';
import { freePort } from '#local/servers/free-port.js';
import { serveScriptPage } from '../support/script-page.js';
import { type Recipe, RecipeFolder, type RecipeProduct } from './recipe.js';

export type BrowserApplication = Omit<Recipe, 'build' | 'start'>;

const BODY =
  '<button id="login">Log in</button> <button id="refresh">Refresh</button> <button id="logout">Log out</button> <output></output>';

export interface ServedApplication {
  readonly origin: string;
  close(): void;
}

/**
 * Registers a public client, bundles the recipe and serves it.
 * @param registration returns client fields for an origin
 * @param without code to remove from the recipe
 */
export async function serveApplication(
  recipe: BrowserApplication,
  product: RecipeProduct,
  registration: (origin: string) => Partial<NewClient>,
  without?: string,
): Promise<ServedApplication> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const settings = await product.register('public', `${origin}/callback`, registration(origin));
  const folder = await RecipeFolder.create(recipe, { without });
  const { close } = await serveScriptPage(join(folder.path, recipe.file), {
    port,
    body: BODY,
    define: {
      ISSUER: JSON.stringify(settings['ISSUER']),
      CLIENT_ID: JSON.stringify(settings['CLIENT_ID']),
    },
  });
  await folder.remove();
  return { origin, close };
}

export async function logInAt(
  { origin }: ServedApplication,
  { user }: RecipeProduct,
  browser: Browser,
): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(origin);
  await page.locator('#login').click();
  await page.locator('#username').fill(user.email);
  await page.locator('#password').fill(user.password);
  await page.keyboard.press('Enter');
  await page.locator('button[value=allow]').click();
  await page.waitForURL(`${origin}/**`);
  return page;
}
