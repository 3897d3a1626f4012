import { ERROR_GUIDE } from '#error-guide/error-guide.js';
import { LOCALES } from '#oauth/locale.js';
import { MESSAGES } from '../../src/ui/i18n/translator.js';
import { SECOND_BRAND } from '../ui/scenes/second-brand.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const { app } = useAuthorizeApp(SECOND_BRAND);
const guide = (headers = {}) => app.browser().get('/auth/errors', headers);

describe('the error reference page (RFC 6749 5.2, error_uri)', () => {
  it('has an entry for the error_uri of every error', async () => {
    const { status, text } = await guide();
    expect(status).toBe(200);
    const ids = [...text.matchAll(/<article id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual(ERROR_GUIDE.flatMap(({ entries }) => entries.map(({ anchor }) => anchor)));
  });

  it('shows the configured brand', async () => {
    const { text } = await guide();
    expect(text).toContain(`· ${SECOND_BRAND.PRODUCT_NAME}</title>`);
    expect(text).toContain(`alt="${SECOND_BRAND.PRODUCT_NAME}"`);
    expect(text).toContain(SECOND_BRAND.ACCENT_COLOR);
    expect(text).toContain(`href="${SECOND_BRAND.HELP_URL}"`);
  });

  it.each(LOCALES)('is in the language of the user, and marks the English entries: %s', async (locale) => {
    const { text, headers } = await guide({ 'Accept-Language': locale });
    expect(headers['content-language']).toBe(locale);
    expect(text).toContain(`<h1>${MESSAGES[locale]['guide.title']}</h1>`);
    expect(text.includes(MESSAGES[locale]['guide.english'])).toBe(locale !== 'en');
    expect(text.indexOf('<div lang="en" dir="ltr">')).toBeLessThan(text.indexOf('<article'));
  });

  it('skips no heading level (WCAG 2.2, 1.3.1)', async () => {
    const { text } = await guide();
    const levels = [...text.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
    expect(levels[0]).toBe(1);
    levels.reduce((before, level) => {
      expect(level).toBeLessThanOrEqual(before + 1);
      return level;
    });
  });

  it('shows backquoted text as code, and escapes HTML', async () => {
    const { text } = await guide();
    expect(text).toContain('<code>Authorization: Bearer &lt;access token&gt;</code>');
    expect(/<main>([^]*)<\/main>/.exec(text)?.[1]).not.toContain('`');
  });
});
