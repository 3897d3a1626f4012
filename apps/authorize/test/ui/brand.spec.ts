import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SECOND_BRAND } from './scenes/second-brand.js';
import { EVERY_RESPONSE } from '../support/every-answer.js';
import { useAuthorizeApp } from '../support/start-authorize-app.js';

const { app } = useAuthorizeApp(SECOND_BRAND);
const { PRODUCT_NAME, LOGO_FILE, PRODUCT_URL, PRIVACY_URL, TERMS_URL, HELP_URL } = SECOND_BRAND;

describe('a configured brand', () => {
  it.each(EVERY_RESPONSE)(
    'replaces the default brand if the response is an HTML page: %s',
    async (...[, , , open]) => {
      const { headers, text = '' } = await open(app);
      if (!headers['content-type']?.startsWith('text/html')) return;
      expect(text).toMatch(new RegExp(`<title>[^<]+ · ${PRODUCT_NAME}</title>`));
      expect(text).toContain(`alt="${PRODUCT_NAME}"`);
      for (const url of [PRODUCT_URL, PRIVACY_URL, TERMS_URL, HELP_URL])
        expect(text).toContain(`href="${url}"`);
      expect(text).toContain('--accent: #7a1f5c;');
      expect(text).not.toMatch(/Scheduling|#1d4ed8/);
      const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
    },
  );

  it('has its logos and its icon served from this site with immutable caching', async () => {
    const browser = app.browser();
    const { text } = await browser.get('/auth/login');
    const addresses = [...text.matchAll(/(?:src|srcset|href)="(\/auth\/brand\/[^"]+)"/g)].map(
      ([, url = '']) => url,
    );
    expect(new Set(addresses).size).toBe(3);
    const bodies = [];
    for (const address of addresses) {
      const { status, headers, body } = await browser.get(address);
      bodies.push(String(body));
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'image/svg+xml',
        'public, max-age=31536000, immutable',
      ]);
      // An image that is opened as a document must not run scripts.
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'.*; sandbox$/);
    }
    expect(bodies).toContain(await readFile(LOGO_FILE, 'utf8'));
  });

  it('yields an uncached 404 for an unknown image', async () => {
    for (const name of ['0000000000000000.svg', '..%2F..%2Fetc%2Fpasswd', 'constructor']) {
      const { status, headers } = await app.browser().get(`/auth/brand/${name}`);
      expect([status, headers['cache-control']]).toEqual([404, 'no-store']);
    }
  });
});
