import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { ConfigurationError } from '#platform/configuration/load-configuration.js';
import {
  accentColours,
  accentProblem,
  contrast,
  DEFAULT_ACCENTS,
  darkAccentOf,
  nearestAccent,
  SCHEMES,
} from '#ui/brand/accent.js';
import { readImage } from '#ui/brand/brand-image.js';
import { type BrandSettings, readBrand } from '#ui/brand/brand.js';

const SETTINGS: BrandSettings = {
  PRODUCT_NAME: 'Quillmark',
  LOGO_FILE: '',
  LOGO_DARK_FILE: '',
  ACCENT_COLOR: '',
  ACCENT_COLOR_DARK: '',
  PRODUCT_URL: '',
  PRIVACY_URL: '',
  TERMS_URL: '',
  HELP_URL: '',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'brand-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const colour = fc
  .integer({ min: 0, max: 0xff_ff_ff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`);
const scheme = fc.constantFrom('light', 'dark');

describe('contrast (WCAG 2.2)', () => {
  it.each([
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    // Well-known contrast checkers report these values.
    ['#767676', '#ffffff', 4.54],
    ['#ff0000', '#ffffff', 4],
    ['#0000ff', '#ffffff', 8.59],
  ])('of %s and %s is %d', (one, other, ratio) => {
    expect(contrast(one, other)).toBeCloseTo(ratio, 1);
    expect(contrast(other, one)).toBe(contrast(one, other));
  });
});

describe('an accent colour', () => {
  it.each(['light', 'dark'] as const)('has enough contrast by default in the %s scheme', (name) => {
    expect(accentProblem(DEFAULT_ACCENTS[name].accent, name)).toBeNull();
  });

  it('is rejected with the actual and required ratios and the nearest valid colour', () => {
    expect(accentProblem('#ffcc00', 'light')).toBe(
      '#ffcc00 has too little contrast in the light scheme: ' +
        'links on the page (#f3f4f6) would have a contrast of 1.37:1 and must have 4.5:1 (WCAG 2.2, 1.4.3); ' +
        'the focus ring on the page (#f3f4f6) would have a contrast of 1.37:1 and must have 3:1 (WCAG 2.2, 1.4.11). ' +
        `The nearest colour that has enough is ${nearestAccent('#ffcc00', SCHEMES.light)}`,
    );
    expect(accentProblem('#1d4ed8', 'dark')).toContain('links on the page (#1e2127)');
  });

  it('has a nearest valid colour, which is the accent colour itself if it is valid', () => {
    fc.assert(
      fc.property(colour, scheme, (given, name) => {
        const nearest = nearestAccent(given, SCHEMES[name]);
        expect(accentProblem(nearest, name)).toBeNull();
        if (accentProblem(given, name) === null) expect(nearest).toBe(given);
      }),
    );
  });

  it('gives initials and buttons a text contrast of at least 4.5:1', () => {
    fc.assert(
      fc.property(colour, scheme, (given, name) => {
        const { accent, onAccent, tint, onTint } = accentColours(
          nearestAccent(given, SCHEMES[name]),
          SCHEMES[name],
        );
        expect(contrast(onAccent, accent)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(onTint, tint)).toBeGreaterThanOrEqual(4.5);
      }),
    );
  });
});

describe('a logo', () => {
  const svg = (attributes: string) =>
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}></svg>`);
  const png = (width: number, height: number) => {
    const bytes = Buffer.alloc(33);
    bytes.write('89504e470d0a1a0a0000000d49484452', 'hex');
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  };

  it.each([
    ['an SVG', svg('viewBox="0 0 120 30"'), 'image/svg+xml', 4],
    [
      'an SVG with a prologue',
      Buffer.concat([
        Buffer.from('<?xml version="1.0"?>\n<!-- made by hand -->\n'),
        svg("viewBox='-1,-1 32 32'"),
      ]),
      'image/svg+xml',
      1,
    ],
    ['a PNG', png(200, 100), 'image/png', 2],
  ])('can be %s', (_name, content, mediaType, ratio) => {
    expect(readImage(content)).toMatchObject({ mediaType, ratio, content });
  });

  it.each([
    ['HTML', Buffer.from('<!doctype html><svg viewBox="0 0 1 1"></svg>')],
    ['an SVG without a viewBox', svg('width="10" height="10"')],
    ['an SVG without a size', svg('viewBox="0 0 10 0"')],
    ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex')],
    ['a truncated PNG', png(10, 10).subarray(0, 20)],
    ['an image that is taller than it is wide', png(100, 200)],
    ['a very wide image', png(1300, 100)],
    ['an image that is too large', Buffer.concat([svg('viewBox="0 0 1 1"'), Buffer.alloc(65 * 1024, ' ')])],
    ['an empty file', Buffer.alloc(0)],
  ])('cannot be %s', (_name, content) => {
    expect(() => readImage(content)).toThrow('it must be an SVG with a viewBox, or a PNG');
  });

  it('is used as the icon only if it is square', () => {
    const wide = file('wide.svg', svg('viewBox="0 0 4 1"'));
    const square = file('square.svg', svg('viewBox="0 0 1 1"'));
    const brandOf = (LOGO_FILE: string) => readBrand({ ...SETTINGS, LOGO_FILE, ACCENT_COLOR: '#7a1f5c' });
    expect(brandOf(square).icon).toEqual(brandOf(square).logo?.light);
    const drawn = brandOf(wide).icon.content.toString();
    expect(drawn).toContain('fill="#7a1f5c"');
    expect(drawn.replaceAll(/<[^>]*>|\s/g, '')).toBe('Q');
  });
});

describe('a brand', () => {
  it('is rejected with a list of all problems', () => {
    const wrong = {
      ...SETTINGS,
      ACCENT_COLOR: '#ffcc00',
      ACCENT_COLOR_DARK: 'navy',
      LOGO_DARK_FILE: join(folder, 'none.png'),
    };
    expect(() => readBrand(wrong)).toThrow(ConfigurationError);
    try {
      readBrand(wrong);
    } catch (error) {
      expect((error as ConfigurationError).problems).toEqual([
        expect.stringMatching(/^ACCENT_COLOR #ffcc00 has too little contrast/),
        'ACCENT_COLOR_DARK must be a colour such as #1d4ed8',
        expect.stringMatching(/^LOGO_DARK_FILE .*none\.png: ENOENT/),
        'LOGO_DARK_FILE needs LOGO_FILE, for the light scheme',
      ]);
    }
  });

  it('derives a dark accent with a contrast of at least 7:1 from the light accent (WCAG 2.2, 1.4.6)', () => {
    const { style } = readBrand({ ...SETTINGS, ACCENT_COLOR: '#7a1f5c' });
    expect(style.text).toContain('--accent: #7a1f5c;');
    const dark = darkAccentOf('#7a1f5c');
    expect(style.text).toContain(`--accent: ${dark};`);
    const { page, card } = SCHEMES.dark;
    for (const other of [page, card, accentColours(dark, SCHEMES.dark).onAccent])
      expect(contrast(dark, other)).toBeGreaterThanOrEqual(7);
  });
});
