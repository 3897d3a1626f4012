import { LOCALES } from '#oauth/locale.js';
import { type MessageId, MESSAGES } from '../../src/ui/i18n/messages.js';
import { Translator } from '../../src/ui/i18n/translator.js';

const IDS = Object.keys(MESSAGES.en) as MessageId[];
const VALUES = {
  product: 'Scheduling',
  name: 'Ada',
  inviter: 'Grace',
  email: 'ada@example.com',
  time: 'now',
  secret: 'abc',
  part: 'Owners',
  kilobytes: 128,
  count: 5,
  days: 7,
  given: 'ftp:x',
  href: 'ftp:x',
  scheme: 'ftp',
  reason: 'repeated',
  of: 'testers',
  label: 'Name',
  id: 'private',
  sector: 'example.com',
  min: 1,
  max: 10,
  width: 1024,
  height: 1024,
};

const argumentsOf = (message: string): string[] =>
  [...new Set([...message.matchAll(/\{(\w+)(?=[,}])/g)].map(([, name = '']) => name))]
    .filter((name) => name in VALUES)
    .sort();

describe.each(LOCALES)('the texts in %s', (locale) => {
  it('have the ids of the English texts, in the same order', () => {
    expect(Object.keys(MESSAGES[locale])).toEqual(IDS);
  });

  it('use the values of the English texts', () => {
    for (const id of IDS)
      expect([id, argumentsOf(MESSAGES[locale][id])]).toEqual([id, argumentsOf(MESSAGES.en[id])]);
  });

  it('are all valid ICU messages', () => {
    const translator = new Translator(locale);
    for (const id of IDS) expect(translator.text(id, VALUES)).not.toBe('');
  });

  it('differ from English, except for terms of the standards', () => {
    const equal = IDS.filter((id) => MESSAGES[locale][id] === MESSAGES.en[id]);
    expect(equal.length).toBeLessThan(locale === 'en' ? Infinity : 12);
  });
});
