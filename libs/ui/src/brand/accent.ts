export interface AccentColours {
  readonly accent: string;
  /** Colour of text and icons on the accent. */
  readonly onAccent: string;
  /** Background of an icon, or of a user's or application's initial. */
  readonly tint: string;
  readonly onTint: string;
}

/** Fixed colours of a scheme, which the stylesheet repeats. */
interface Scheme {
  readonly page: string;
  readonly card: string;
  readonly text: string;
  /** Colour that is mixed into an accent to increase its contrast. */
  readonly opposite: string;
}

const LIGHT: Scheme = { page: '#f3f4f6', card: '#ffffff', text: '#1b1f27', opposite: '#000000' };
const DARK: Scheme = { page: '#14161a', card: '#1e2127', text: '#eceef2', opposite: '#ffffff' };
export const SCHEMES = { light: LIGHT, dark: DARK } as const;

export const DEFAULT_ACCENTS = {
  light: { accent: '#1d4ed8', onAccent: '#fff', tint: '#e6ecfd', onTint: '#1d4ed8' },
  dark: { accent: '#9dbcff', onAccent: '#10131a', tint: '#26324d', onTint: '#9dbcff' },
} as const satisfies Record<string, AccentColours>;

const WHITE = '#ffffff';
const NEARLY_BLACK = '#10131a';
const TINT = 0.12;

/** Contrast of text (WCAG 2.2, 1.4.3). */
const TEXT = 4.5;
/** Enhanced contrast of text (WCAG 2.2, 1.4.6). */
const ENHANCED_TEXT = 7;
/** Contrast of a focus indicator (WCAG 2.2, 1.4.11). */
const RING = 3;

/** Normalizes `#rgb` or `#rrggbb` to lower-case `#rrggbb`; null for anything else. */
export function readColour(text: string): string | null {
  const [, three, six] = /^#(?:([\da-f]{3})|([\da-f]{6}))$/i.exec(text) ?? [];
  if (three !== undefined) return `#${three.replaceAll(/./g, '$&$&')}`.toLowerCase();
  return six === undefined ? null : `#${six}`.toLowerCase();
}

/** Returns the "contrast ratio" of WCAG 2.2, from 1 to 21. */
export function contrast(colour: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(colour), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Returns the "relative luminance" of WCAG 2.2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour)
    .map((channel) => channel / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function mix(colour: string, other: string, share: number): string {
  const others = channels(other);
  const mixed = channels(colour).map((channel, at) =>
    Math.round(channel + ((others[at] ?? 0) - channel) * share),
  );
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

function uses(accent: string, { page, card }: Scheme, text = TEXT) {
  const onAccent = onAccentOf(accent);
  const behind = contrast(accent, page) < contrast(accent, card) ? page : card;
  return [
    {
      what: `the text of buttons (${onAccent}) on it`,
      ratio: contrast(accent, onAccent),
      needed: text,
      rule: '1.4.3',
    },
    { what: `links on the page (${behind})`, ratio: contrast(accent, behind), needed: text, rule: '1.4.3' },
    {
      what: `the focus ring on the page (${behind})`,
      ratio: contrast(accent, behind),
      needed: RING,
      rule: '1.4.11',
    },
  ];
}

function onAccentOf(accent: string): string {
  return contrast(accent, WHITE) >= contrast(accent, NEARLY_BLACK) ? WHITE : NEARLY_BLACK;
}

function passes(accent: string, scheme: Scheme, text: number): boolean {
  return uses(accent, scheme, text).every(({ ratio, needed }) => ratio >= needed);
}

/** Returns the colour, or its first mix with black or white that has enough contrast. */
export function nearestAccent(accent: string, scheme: Scheme, text = TEXT): string {
  const steps = Array.from({ length: 101 }, (_, percent) => mix(accent, scheme.opposite, percent / 100));
  return steps.find((step) => passes(step, scheme, text)) ?? scheme.opposite;
}

/** Derives the accent of the dark scheme, with the contrast of WCAG level AAA. */
export function darkAccentOf(accent: string): string {
  return nearestAccent(accent, DARK, ENHANCED_TEXT);
}

/** Returns why a colour cannot be the accent of a scheme; null if it can. */
export function accentProblem(accent: string, scheme: keyof typeof SCHEMES): string | null {
  const failed = uses(accent, SCHEMES[scheme]).filter(({ ratio, needed }) => ratio < needed);
  if (failed.length === 0) return null;
  const reasons = failed.map(
    ({ what, ratio, needed, rule }) =>
      // Rounds down, because 4.496 is not enough and must not read as 4.5.
      `${what} would have a contrast of ${Math.floor(ratio * 100) / 100}:1 and must have ${needed}:1 (WCAG 2.2, ${rule})`,
  );
  return `${accent} has too little contrast in the ${scheme} scheme: ${reasons.join('; ')}. The nearest colour that has enough is ${nearestAccent(accent, SCHEMES[scheme])}`;
}

export function accentColours(accent: string, { card, text }: Scheme): AccentColours {
  const tint = mix(card, accent, TINT);
  const onTint = contrast(accent, tint) >= TEXT ? accent : text;
  return { accent, onAccent: onAccentOf(accent), tint, onTint };
}
