import { KeyRing } from '#keys/key-ring.js';
import { MAIL_KINDS } from '#mail/mail.entity.js';
import type { MailValues } from '#mail/mail.store.js';
import { LOCALES } from '#oauth/locale.js';
import { type MailMessageId, MESSAGES } from '../../src/mail/i18n/messages.js';
import { MailContent, withoutLinks } from '../../src/mail/mail-content.js';
import { TokenConfiguration } from '../../src/token.configuration.js';

const IDS = Object.keys(MESSAGES.en) as MailMessageId[];
const argumentsOf = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].sort();

const content = new MailContent(
  Object.assign(new TokenConfiguration(), { DEVELOPERS_URL: 'https://developers.example.com' }),
  new KeyRing([Buffer.alloc(32, 1)]),
);
const VALUES: MailValues = {
  email: 'ada@example.com',
  locale: null,
  timeZone: 'Europe/Berlin',
  application: 'Calendar',
  expiresAt: new Date('2026-06-30T22:30:00Z'),
  role: 'tester',
  inviter: 'Ada',
  inviterEmail: null,
};
const mail = (kind: (typeof MAIL_KINDS)[number]) => ({
  id: 'id',
  kind,
  clientId: 'sc_a',
  about: '0b9f0000-0000-4000-8000-000000000000',
  attempts: 1,
});

describe.each(LOCALES)('the mails in %s', (locale) => {
  it('have the ids of the English mails, in the same order', () => {
    expect(Object.keys(MESSAGES[locale])).toEqual(IDS);
  });

  it('have the values of the English mails', () => {
    for (const id of IDS)
      expect([id, argumentsOf(MESSAGES[locale][id])]).toEqual([id, argumentsOf(MESSAGES.en[id])]);
  });

  it.each(MAIL_KINDS.filter((kind) => kind !== 'digest'))('have a line with only the link: %s', (kind) => {
    const { subject, text, language } = content.toUser(mail(kind), { ...VALUES, locale });
    expect(language).toBe(locale);
    expect(
      text.split('\n').filter((line) => /^https:\/\/developers[.]example[.]com\/[!-~]+$/.test(line)),
    ).toHaveLength(1);
    expect(subject + text).not.toMatch(/[{}]|undefined|null/);
    if (locale !== 'en') expect(subject).not.toBe(content.toUser(mail(kind), VALUES).subject);
  });
});

it('dates an expiry in the time zone of the user', () => {
  expect(content.toUser(mail('secret_expires'), VALUES).subject).toContain('July 1, 2026');
});

describe('a name in a mail', () => {
  it.each([
    ['Calendar Connect', 'Calendar Connect'],
    ['a\r\nBcc: eve@example.com', 'a Bcc: eve@ example. com'],
    ['https://evil.example/x', 'https: / / evil. example/ x'],
    ['www.evil。example', 'www. evil。 example'],
    ['\u202Emoc\u2066\u0000', 'moc'],
    ['a\u2028b\u00A0c', 'a b c'],
    ['“Bank”: «pay»', "'Bank': 'pay'"],
    ['x'.repeat(61), `${'x'.repeat(59)}…`],
  ])('%j is shown as %j', (name, shown) => {
    expect(withoutLinks(name)).toBe(shown);
  });
});

it.each([
  ['ada.lovelace+dev@mail.example.com', true],
  ['www.evil.example/login?id=1@mail.example', false],
  ['"https://evil.example/ "@mail.example', false],
])('a mail shows the address %s of the inviter: %s', (inviterEmail, isShown) => {
  const { text } = content.toUser(mail('invitation'), { ...VALUES, inviterEmail });
  expect(text.includes(inviterEmail)).toBe(isShown);
});
