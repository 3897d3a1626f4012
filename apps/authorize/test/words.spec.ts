import { randomBytes } from 'node:crypto';
import { LOCALES } from '#directory/locale.js';
import { Words } from '../src/language/words.js';

describe('texts in other directions', () => {
  it('are isolated from the sentence around them', () => {
    const name = `עברית ${randomBytes(2).toString('hex')} <b>`;
    for (const locale of LOCALES) {
      const { text } = new Words(locale).rich('notice.revoked', { client: name });
      expect(text).toContain(`<bdi>${name.replace('<', '&lt;').replace('>', '&gt;')}</bdi>`);
    }
  });
});

describe('a day', () => {
  const date = new Date('2026-03-31T23:30:00Z');

  it('is that of the user’s time zone', () => {
    expect(new Words('en').date(date, 'Asia/Tokyo')).toBe('April 1, 2026');
    expect(new Words('de').date(date, 'America/New_York')).toBe('31. März 2026');
  });

  it('is that of UTC when nobody knows the time zone (any more)', () => {
    expect(new Words('en').date(date, 'Mars/Olympus')).toBe('March 31, 2026');
  });
});
