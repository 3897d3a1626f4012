import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { existsSync } from 'node:fs';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { launchBrowser } from '#test/support/chromium.js';
import { startTestServices } from '#test/support/test-run.js';
import { ERROR_SCENES } from '../apps/authorize/test/ui/scenes/error-scenes.js';
import type { Scene } from '../apps/authorize/test/ui/scenes/scene.js';
import { SCENES } from '../apps/authorize/test/ui/scenes/scenes.js';
import { SECOND_BRAND } from '../apps/authorize/test/ui/scenes/second-brand.js';
import { openSceneFixture, type SceneFixture } from '../apps/authorize/test/ui/scenes/scene-fixture.js';
import { openConsoleScenes } from '../apps/console/test/support/console-scenes.js';

const PACKAGES = ['@expo-google-fonts/inter', '@expo-google-fonts/noto-sans-arabic'];

/** Restricts new browsers to the fonts of PACKAGES, because pages use system fonts, which differ between machines. */
async function useOwnFonts(): Promise<void> {
  const { resolve } = createRequire(import.meta.url);
  const folders = PACKAGES.map((name) => path.dirname(resolve(`${name}/package.json`)));
  const folder = await mkdtemp(path.join(tmpdir(), 'fonts-'));
  const file = path.join(folder, 'fonts.conf');
  await writeFile(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
      ${folders.map((folder) => `<dir>${folder}</dir>`).join('')}
      <cachedir>${folder}</cachedir>
      ${['system-ui', 'sans-serif', 'monospace']
        .map(
          (generic) =>
            `<alias binding="same"><family>${generic}</family><prefer><family>Inter</family><family>Noto Sans Arabic</family></prefer></alias>`,
        )
        .join('')}
    </fontconfig>`,
  );
  process.env['FONTCONFIG_FILE'] = file;
}

function galleryOf(scenes: readonly { readonly name: string }[], variants: readonly string[]): string {
  const head = [
    '# Screenshots',
    '',
    'Every page in every state, made by `npm run screenshots`: a real Chromium, and the same people, applications, dates',
    'and fonts every time. `npm run screenshots -- consent apps` makes some of them, `-- console` those of the console.',
  ];
  const rows = scenes.flatMap(({ name }) => [
    '',
    `## ${name}`,
    '',
    variants.map((variant) => `![${name}, ${variant}](${name}-${variant}.png)`).join(' '),
  ]);
  return [...head, ...rows, ''].join('\n');
}

/** The types of this package declare an ES module, but the package is CommonJS. */
const { default: upng } = createRequire(import.meta.url)('@pdf-lib/upng') as {
  default: typeof import('@pdf-lib/upng');
};

const COLOURS = 48;

/** Reduces a picture to a palette, which saves two thirds of the bytes. */
function smallPng(png: Buffer): Buffer {
  const image = upng.decode(new Uint8Array(png).buffer);
  return Buffer.from(upng.encode(upng.toRGBA8(image), image.width, image.height, COLOURS));
}

/** Folder of all pictures, ignored by git. */
const FOLDER = 'screenshots';
/** Folder of the pictures in the documents. A run updates only pictures that exist here. */
const SHOWN = path.join('docs', 'screenshots');

/** Size of a page in the documents. */
const PAGE = { width: 560, height: 320 };
const PHONE = { width: 375, height: 320 };
const DESKTOP = { width: 1280, height: 720 };
const VARIANTS = {
  light: { locale: 'en', viewport: PAGE },
  dark: { locale: 'en', viewport: PAGE, colorScheme: 'dark' },
  phone: { locale: 'en', viewport: PHONE },
  'phone-dark': { locale: 'en', viewport: PHONE, colorScheme: 'dark' },
  desktop: { locale: 'en', viewport: DESKTOP },
  'desktop-dark': { locale: 'en', viewport: DESKTOP, colorScheme: 'dark' },
  arabic: { locale: 'ar', viewport: PAGE },
} as const;

/** Scenes that the documents also show with another brand. */
const SECOND_BRAND_SCENES = ['login-for-application', 'consent-choices'];

type Variant = keyof typeof VARIANTS;
const NAMES = Object.keys(VARIANTS) as Variant[];

/** @param prefix prefix of the file name */
async function take(
  chromium: Browser,
  fixture: SceneFixture,
  scene: Scene,
  variant: Variant,
  prefix = '',
): Promise<void> {
  const options = VARIANTS[variant];
  const context = await fixture.visit(chromium, scene.visitor(fixture), options);
  const page = await context.newPage();
  await scene.open(page, fixture, options.locale);
  const png = await page.screenshot({ fullPage: true });
  const file = `${prefix}${scene.name}-${variant}.png`;
  await writeFile(path.join(FOLDER, file), smallPng(png));
  if (existsSync(path.join(SHOWN, file))) await copyFile(path.join(FOLDER, file), path.join(SHOWN, file));
  await context.close();
}

/** Takes pictures of the console's pages, which are not in the documents. */
async function takeConsole(chromium: Browser, only: readonly string[]): Promise<void> {
  if (only.length > 0 && !only.some((name) => name.startsWith('console'))) return;
  const fixture = await openConsoleScenes();
  try {
    for (const [name, open] of Object.entries(fixture.scenes)) {
      const slug = `console-${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
      if (only.length > 0 && !only.includes(slug) && !only.includes('console')) continue;
      const page = await chromium.newPage(VARIANTS.desktop);
      await fixture.logIn(page);
      await open(page);
      // Takes all variants of one page, because a state such as a new secret occurs only once.
      for (const variant of ['desktop', 'desktop-dark', 'phone', 'phone-dark'] as const) {
        const { viewport, colorScheme = 'light' } = { ...VARIANTS[variant] } as BrowserContextOptions;
        await page.setViewportSize(viewport ?? DESKTOP);
        await page.emulateMedia({ colorScheme });
        await writeFile(
          path.join(FOLDER, `${slug}-${variant}.png`),
          smallPng(await page.screenshot({ fullPage: true })),
        );
      }
      await page.context().close();
    }
  } finally {
    await fixture.close();
  }
}

// Takes all pictures, or the pictures named in the arguments. Only a full run deletes stale pictures.
const only = process.argv.slice(2);
const all = [...SCENES, ...ERROR_SCENES];
const endServices = await startTestServices();
await useOwnFonts();
const [fixture, chromium] = await Promise.all([openSceneFixture(), launchBrowser()]);
const second = await openSceneFixture(SECOND_BRAND);
try {
  await mkdir(FOLDER, { recursive: true });
  if (only.length === 0)
    for (const name of await readdir(FOLDER)) if (name.endsWith('.png')) await rm(path.join(FOLDER, name));
  for (const scene of all.filter(({ name }) => only.length === 0 || only.includes(name)))
    for (const variant of NAMES) await take(chromium, fixture, scene, variant);
  for (const scene of all.filter(({ name }) => SECOND_BRAND_SCENES.includes(name)))
    for (const variant of ['light', 'dark'] as const)
      await take(chromium, second, scene, variant, 'second-brand-');
  await takeConsole(chromium, only);
  await writeFile(path.join(FOLDER, 'README.md'), galleryOf(all, NAMES));
} finally {
  await chromium.close();
  await fixture.close();
  await second.close();
  await endServices();
}
