import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Client } from '#database/client/client.js';
import { authorize, REDIRECT_URI } from '../support/authorize-app.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const { app } = useAuthorizeApp();

let client: Client;
beforeAll(async () => {
  client = await app.client({}, REDIRECT_URI, 'https://registered.example/only-the-operator-knows');
});

describe('the developer details', () => {
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

  it('are collapsed and in English, with a title in the user’s language', async () => {
    const page = await app.browser().get('/auth/oauth2/authorize', { 'Accept-Language': 'ar' });
    expect(page.text).toContain('<summary>للمطورين</summary>');
    expect(page.text).toContain('<dd lang="en" dir="ltr">the parameter &#39;client_id&#39; is missing</dd>');
    expect(page.text).not.toMatch(/<details[^>]*open/);
  });
});

it('the page for an unregistered redirect URI lists common causes for developers and commands for operators', async () => {
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
