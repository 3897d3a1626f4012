import fc from 'fast-check';
import { displayedUserCode, generateUserCode, normalizeUserCode } from '#oauth/device-authorization.js';

const codes = fc.infiniteStream(fc.nat({ max: 19 })).map((letters) => {
  const next = letters[Symbol.iterator]();
  return generateUserCode(() => next.next().value as number);
});

describe('a user code', () => {
  // @rfc 8628 6.1
  it('consists of 8 letters out of 20 consonants, and is shown in two halves', () => {
    let letter = 0;
    expect(displayedUserCode(generateUserCode(() => letter++))).toBe('BCDF-GHJK');
    expect(generateUserCode((max) => max - 1)).toBe('ZZZZZZZZ');
    fc.assert(fc.property(codes, (code) => expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/)));
  });

  // @rfc 8628 6.1
  it('is read in any letter case and width, with any punctuation and spaces', () => {
    const noise = fc.array(fc.constantFrom(' ', '-', '–', '\u00a0', '.', '\t'), { maxLength: 3 });
    fc.assert(
      fc.property(
        codes,
        fc.array(noise, { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        (code, gaps, lower) => {
          const spelled = code
            .split('')
            .map((letter, at) => (gaps[at] ?? []).join('') + letter)
            .join('');
          expect(normalizeUserCode(lower ? spelled.toLowerCase() : spelled)).toBe(code);
        },
      ),
    );
    expect(normalizeUserCode('ｗｄｊｂ－ｍｊｈｔ')).toBe('WDJBMJHT');
  });

  it.each([undefined, '', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJA-MJHT', 'WDJ8-MJHT', 'WDJB-MJHТ', ' '.repeat(200)])(
    'cannot be %j',
    (text) => expect(normalizeUserCode(text)).toBeNull(),
  );
});
