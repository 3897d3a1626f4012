import { isContact, isEmailAddress, isLink } from '#oauth/links.js';

describe('the links and contacts of an application (RFC 7591 2)', () => {
  it.each([
    'https://app.example.com',
    'https://app.example.com/privacy?a=1#b',
    'http://localhost:3000/',
    'http://127.0.0.1:3000/help',
  ])('may be %s', (uri) => {
    expect([isLink(uri), isContact(uri)]).toEqual([true, true]);
  });

  it.each([
    'http://app.example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//app.example.com/',
    '/privacy',
    'https://user:password@app.example.com/',
    'https://app.example.com/a b',
    'https://app.example.com/\nx',
    'https://app.example.com\\@evil.example/',
    'https://APP.example.com/',
    'https://пример.example/',
    `https://app.example.com/${'x'.repeat(500)}`,
    '',
  ])('must not be %j', (uri) => {
    expect([isLink(uri), isContact(uri)]).toEqual([false, false]);
  });

  it.each(['help@example.com', 'first.last+tag@mail.example.com'])(
    'may include the email address %s',
    (contact) => {
      expect([isContact(contact), isEmailAddress(contact)]).toEqual([true, true]);
    },
  );

  it.each([
    'Help <help@example.com>',
    'help@example.com,a@b.example',
    'mailto:help@example.com',
    'help@',
    'a@b',
  ])('must not include the email address %j', (contact) => expect(isContact(contact)).toBe(false));
});
