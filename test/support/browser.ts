import { access } from 'node:fs/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Chromium, machineChromium, packagedChromium } from './chromium.js';

/**
 * Starts a headless Chromium: the machine's own, else the one of the npm package, with the shared libraries it
 * brings when this machine lacks them. It ends with `close()`, and with this process.
 */
export async function launchBrowser(): Promise<Browser> {
  const own = await machineChromium();
  if (own) return launch(own);
  const packaged = await packagedChromium(!(await hasFonts()));
  try {
    return await launch(packaged);
  } catch (error) {
    if (!/error while loading shared libraries/.test(String(error))) throw error;
    return launch(await packagedChromium(true));
  }
}

/** Against a hang, not to measure: for each thing that a page is waited for. */
const PATIENCE_MS = 120_000;

async function launch({ path, env }: Chromium): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    timeout: PATIENCE_MS,
    // It visits our own pages only; its sandbox needs rights that root in a container, and many machines, do not give.
    chromiumSandbox: false,
    args: ['--font-render-hinting=none'],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}

/** Collects the console messages and uncaught errors of a page, all of which fail a test. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Playwright can fill a field before Chromium has handled `autofocus`.
    if (!message.text().startsWith('Autofocus processing was blocked')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return complaints;
}

function hasFonts(): Promise<boolean> {
  return access('/etc/fonts/fonts.conf').then(
    () => true,
    () => false,
  );
}
