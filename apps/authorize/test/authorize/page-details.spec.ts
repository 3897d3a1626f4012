import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Client } from '#clients/client.js';
import {
  authorize,
  authorizeAddress,
  REDIRECT_URI,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { disableClients } from '#test/support/stored.js';

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
    const { clientId } = await app.client({ name: 'Notes', ...LINKS });
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
    const client = await app.client({ name: 'Notes', ...LINKS });
    const page = await authorize(app, client, parameters);
    expect([page.status, page.headers['location']]).toEqual([400, undefined]);
    expect(page.text).toContain('<strong><bdi>Notes</bdi></strong>');
    expect(linksOf(page.text)).toEqual(SHOWN);
  });

  it('are not shown on the error page of a disabled application', async () => {
    const client = await app.client({ name: 'Notes', ...LINKS });
    await disableClients(app, client.clientId);
    const page = await authorize(app, client, {});
    expect(page.status).toBe(403);
    expect(page.text).toContain('<strong><bdi>Notes</bdi></strong>');
    expect(linksOf(page.text)).toEqual([]);
  });
});

describe('the developer details', () => {
  let client: Client;
  beforeAll(async () => {
    client = await app.client({}, REDIRECT_URI, 'https://registered.example/only-the-operator-knows');
  });

  it('show request values as text, and no registered values', async () => {
    const page = await authorize(app, client, { redirect_uri: 'https://x.example/<b>?a=1&b="2"' });
    expect(page.text).toContain('https://x.example/&lt;b&gt;?a=1&amp;b=&quot;2&quot;');
    expect(page.text).toContain(`<code>${client.clientId}</code>`);
    expect(page.text).toContain('<code>client_id redirect_uri state</code>');
    expect(page.text).toContain('localhost is not 127.0.0.1');
    expect(page.text).not.toContain('only-the-operator-knows');
    expect(page.text).not.toContain('app.example.com');
  });

  it('do not show credentials that were sent in the wrong parameter', async () => {
    const secret = 'scs_abcdefghijklmnopqrstuvwxyz';
    const code = 'sac_abcdefghijklmnopqrstuvwxyz';
    const deviceCode = 'sdc_abcdefghijklmnopqrstuvwxyz';
    const pages = await Promise.all([
      authorize(app, client, { client_id: secret }),
      authorize(app, client, { redirect_uri: `https://x.example/${deviceCode}` }),
      authorize(app, client, { redirect_uri: `https://x.example/${code}` }),
      authorize(app, client, { client_id: undefined, [secret]: '1', [code]: '2' }),
    ]);
    for (const page of pages) expect(page.text).not.toMatch(/bcdefghijk/);
    expect(pages[0]?.text).toContain('<code>scs_…</code>');
  });

  it('are collapsed, with a title in the user’s language and the description in English', async () => {
    const page = await app.browser().get('/auth/oauth2/authorize', { 'Accept-Language': 'ar' });
    expect(page.text).toContain('<summary>للمطورين</summary>');
    expect(page.text).toContain('<dd lang="en" dir="ltr">the parameter &#39;client_id&#39; is missing</dd>');
    expect(page.text).not.toMatch(/<details[^>]*open/);
  });

  it('list common causes and operator commands for an unregistered redirect URI', async () => {
    const page = await authorize(app, client, { redirect_uri: `${REDIRECT_URI}/` });
    const details = /<details>([\s\S]*)<\/details>/.exec(page.text)?.[1] ?? '';
    expect(details).toMatch(/<h2>Common causes<\/h2>\s*<ul>[\s\S]*ends with a slash[\s\S]*<\/ul>/);
    for (const command of ['client show', 'client update --add-redirect-uri'])
      expect(details.replaceAll(/<\/?span>/g, '')).toContain(`<code>${command}</code>`);
    const commands = readFileSync(
      fileURLToPath(new URL('../../../operator/src/client/client-registration.command.ts', import.meta.url)),
      'utf8',
    );
    expect(commands).toContain("'--add-redirect-uri <uri>'");
  });
});
