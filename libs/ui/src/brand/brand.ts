import { createHash } from 'node:crypto';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { readConfigurationFile } from '#platform/configuration/configuration-files.module.js';
import { ConfigurationError } from '#platform/configuration/load-configuration.js';
import { html, Html } from '../html.js';
import {
  accentColours,
  accentProblem,
  type AccentColours,
  DEFAULT_ACCENTS,
  darkAccentOf,
  readColour,
  SCHEMES,
} from './accent.js';
import { type BrandImage, brandImage, readImage } from './brand-image.js';
import { stylesheetOf } from '../stylesheet.js';

/** Environment variables of the brand. Empty and absent variables have the same effect. */
export interface BrandSettings {
  readonly PRODUCT_NAME: string;
  readonly LOGO_FILE?: string;
  readonly LOGO_DARK_FILE?: string;
  readonly ACCENT_COLOR: string;
  readonly ACCENT_COLOR_DARK: string;
  readonly PRODUCT_URL?: string;
  readonly PRIVACY_URL?: string;
  readonly TERMS_URL?: string;
  readonly HELP_URL?: string;
}

export abstract class Brand {
  abstract readonly productName: string;
  abstract readonly style: Html;
  abstract readonly styleSource: string;
  /** If null, the header shows the name as text. */
  abstract readonly logo: { readonly light: BrandImage; readonly dark: BrandImage } | null;
  abstract readonly icon: BrandImage;
  abstract readonly iconLink: Html;
  abstract readonly header: Html;
  abstract readonly links: Readonly<Record<'product' | 'privacy' | 'terms' | 'help', string | null>>;
}

/** @param rules CSS of a site, appended to the common stylesheet @throws ConfigurationError listing every problem */
export function readBrand(settings: BrandSettings, rules = ''): Brand {
  const { LOGO_FILE = '', LOGO_DARK_FILE = '' } = settings;
  const { PRODUCT_NAME: productName, PRODUCT_URL = '', PRIVACY_URL, TERMS_URL, HELP_URL } = settings;
  const problems: string[] = [];
  const accents = readAccents(settings, problems);
  const light = readLogo('LOGO_FILE', LOGO_FILE, problems);
  const dark = readLogo('LOGO_DARK_FILE', LOGO_DARK_FILE, problems);
  if (LOGO_DARK_FILE !== '' && LOGO_FILE === '')
    problems.push('LOGO_DARK_FILE needs LOGO_FILE, for the light scheme');
  if (problems.length > 0) throw new ConfigurationError(problems);
  const stylesheet = stylesheetOf(accents) + rules;
  const logo = light && { light, dark: dark ?? light };
  // A wide logo is illegible in a browser tab.
  const icon = logo?.light.ratio === 1 ? logo.light : initialIcon(productName, accents.light);
  return {
    productName,
    style: new Html(`<style>${stylesheet}</style>`),
    styleSource: `'sha256-${createHash('sha256').update(stylesheet).digest('base64')}'`,
    logo,
    icon,
    iconLink: html`<link rel="icon" href="${imageUrl(icon)}" type="${icon.mediaType}" />`,
    header: headerOf(logo ? picture(logo, productName) : productName, PRODUCT_URL),
    links: {
      product: PRODUCT_URL || null,
      privacy: PRIVACY_URL || null,
      terms: TERMS_URL || null,
      help: HELP_URL || null,
    },
  };
}

function headerOf(name: Html | string, productUrl: string): Html {
  return html`<header class="brand">
    ${productUrl === '' ? name : html`<a class="alone" href="${productUrl}">${name}</a>`}
  </header>`;
}

export function imagesOf({ logo, icon }: Brand): ReadonlyMap<string, BrandImage> {
  const images = logo ? [logo.light, logo.dark, icon] : [icon];
  return new Map(images.map((image) => [image.name, image]));
}

export function imageUrl({ name }: BrandImage): string {
  return `${ENDPOINTS.brand}/${name}`;
}

const LOGO_HEIGHT = 32;

function picture({ light, dark }: { light: BrandImage; dark: BrandImage }, productName: string): Html {
  const width = Math.round(LOGO_HEIGHT * light.ratio);
  return html`<picture>
    ${dark !== light && html`<source media="(prefers-color-scheme: dark)" srcset="${imageUrl(dark)}" />`}
    <img src="${imageUrl(light)}" alt="${productName}" width="${width}" height="${LOGO_HEIGHT}" />
  </picture>`;
}

function readAccents(
  { ACCENT_COLOR, ACCENT_COLOR_DARK }: BrandSettings,
  problems: string[],
): Record<'light' | 'dark', AccentColours> {
  const light = readAccent('ACCENT_COLOR', ACCENT_COLOR, 'light', problems);
  const dark =
    readAccent('ACCENT_COLOR_DARK', ACCENT_COLOR_DARK, 'dark', problems) ?? (light && darkAccentOf(light));
  return {
    light: light ? accentColours(light, SCHEMES.light) : DEFAULT_ACCENTS.light,
    dark: dark ? accentColours(dark, SCHEMES.dark) : DEFAULT_ACCENTS.dark,
  };
}

function readAccent(
  variable: string,
  text: string,
  scheme: keyof typeof SCHEMES,
  problems: string[],
): string | null {
  if (text === '') return null;
  const colour = readColour(text);
  const problem = colour === null ? 'must be a colour such as #1d4ed8' : accentProblem(colour, scheme);
  if (problem !== null) problems.push(`${variable} ${problem}`);
  return colour;
}

function readLogo(variable: string, path: string, problems: string[]): BrandImage | null {
  if (path === '') return null;
  try {
    return readConfigurationFile({ variable, path, parse: readImage }).value;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    problems.push(...error.problems);
    return null;
  }
}

const graphemes = new Intl.Segmenter();

function initialIcon(name: string, { accent, onAccent }: AccentColours): BrandImage {
  const [first] = graphemes.segment(name);
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
    <rect width="32" height="32" rx="7" fill="${accent}" />
    <text
      x="16"
      y="23"
      font-family="system-ui, sans-serif"
      font-size="20"
      font-weight="700"
      text-anchor="middle"
      fill="${onAccent}"
    >
      ${first?.segment ?? ''}
    </text>
  </svg>`;
  return brandImage(Buffer.from(svg.text), 'svg', 1);
}
