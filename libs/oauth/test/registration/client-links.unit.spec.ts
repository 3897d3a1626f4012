import { linkProblems } from '../../src/registration/client-links.js';

const problems = (links: Parameters<typeof linkProblems>[0]) => linkProblems(links, (field) => field);

describe('the links of an application (RFC 7591 2)', () => {
  it.each([
    'https://app.example.com',
    'https://app.example.com/privacy?a=1#b',
    'http://localhost:3000/',
    'http://127.0.0.1:3000/help',
  ])('may be %s', (uri) => {
    expect(problems({ clientUri: uri, policyUri: uri, contacts: [uri] })).toEqual([]);
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
    expect(problems({ clientUri: uri, policyUri: uri, contacts: [uri] })).toEqual([
      expect.stringMatching(/^clientUri .* must be an https URL$/),
      expect.stringMatching(/^policyUri .* must be an https URL$/),
      expect.stringMatching(/^contacts .* must be an email address or an https URL$/),
    ]);
  });

  it.each(['help@example.com', 'first.last+tag@mail.example.com'])('have the email address %s', (contact) => {
    expect(problems({ contacts: [contact] })).toEqual([]);
  });

  it.each([
    'Help <help@example.com>',
    'help@example.com,a@b.example',
    'mailto:help@example.com',
    'help@',
    'a@b',
  ])('have no email address %j', (contact) => expect(problems({ contacts: [contact] })).toHaveLength(1));

  it('have at most five contacts', () => {
    const contacts = Array.from({ length: 6 }, (_, index) => `${index}@example.com`);
    expect(problems({ contacts })).toEqual(['contacts has more than 5: give fewer']);
  });
});
