import { authorize, authorizeAddress, REDIRECT_URI } from '../support/authorize-app.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const { app, user } = useAuthorizeApp();

const LINKS = {
  clientUri: 'https://notes.example/',
  policyUri: 'https://notes.example/privacy?a=1&b=2',
  contacts: ['sup?port+1@notes.example', 'https://help.notes.example/contact'],
};
const SHOWN = [
  'https://notes.example/',
  'https://notes.example/privacy?a=1&amp;b=2',
  'mailto:sup%3Fport%2B1@notes.example',
  'https://help.notes.example/contact',
];

const linksOf = (page: string) =>
  [...page.matchAll(/<a class="alone" href="([^"]*)" rel="noopener noreferrer nofollow" dir="auto">/g)].map(
    ([, address]) => address,
  );

describe('home page, privacy policy and contacts of an application', () => {
  it('are linked on the consent page', async () => {
    const { clientId } = await app.client({ name: 'Notes', links: LINKS });
    const address = authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' });
    const page = await (await app.loggedIn(user)).get(address);
    expect(linksOf(page.text)).toEqual(SHOWN);
    expect(page.text).toContain('>help.notes.example</a>');
  });

  it('are absent from the consent page of an application without links', async () => {
    const { clientId } = await app.client({ name: 'Notes' });
    const address = authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' });
    expect(linksOf((await (await app.loggedIn(user)).get(address)).text)).toEqual([]);
  });

  it.each([
    ['unregistered', { redirect_uri: 'https://evil.example/' }],
    ['missing', { redirect_uri: undefined }],
  ])('are linked on the error page for a redirect URI that is %s', async (_case, parameters) => {
    const client = await app.client({ name: 'Notes', links: LINKS });
    const page = await authorize(app, client, parameters);
    expect([page.status, page.headers['location']]).toEqual([400, undefined]);
    expect(page.text).toContain('<strong><bdi>Notes</bdi></strong>');
    expect(linksOf(page.text)).toEqual(SHOWN);
  });

  it('are not shown on the error page of a disabled application', async () => {
    const client = await app.client({ name: 'Notes', links: LINKS });
    await app.sql('UPDATE clients SET disabled_at = now() WHERE client_id = $1', [client.clientId]);
    const page = await authorize(app, client, {});
    expect(page.status).toBe(403);
    expect(page.text).toContain('<strong><bdi>Notes</bdi></strong>');
    expect(linksOf(page.text)).toEqual([]);
  });
});
