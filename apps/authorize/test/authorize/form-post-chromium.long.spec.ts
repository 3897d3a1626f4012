import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Browser } from 'playwright-core';
import { freePort } from '#local/servers/free-port.js';
import { complaintsOf, launchBrowser } from '#test/support/chromium.js';
import { type HttpServer, serve } from '#test/support/http-server.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  BASE_URL,
  PASSWORD,
  startAuthorizeApp,
} from '../support/start-authorize-app.js';

const STATE = `"'><script>document.title='owned'</script></form>&amp;\u202ex é`;

let app: AuthorizeApp;
let chromium: Browser;
let frontEnd: HttpServer;
let callback: HttpServer;
let address: string;
const received: { readonly request: IncomingMessage; readonly body: string }[] = [];

beforeAll(async () => {
  const port = await freePort();
  [app, chromium] = await Promise.all([
    startAuthorizeApp({ AUTH_URL: `http://127.0.0.1:${port}` }, undefined, port),
    launchBrowser(),
  ]);
  // Many applications serve their callback and their pages from different origins.
  frontEnd = await serve((_request, response) => response.end('connected'));
  callback = await serve((request, response) => {
    void text(request).then((body) => {
      received.push({ request, body });
      response.writeHead(303, { Location: `${frontEnd.url}/done` }).end();
    });
  });
  const redirectUri = `http://localhost:${callback.port}/callback?tenant=7`;
  const { clientId } = await app.client({ name: 'Calendar Connect' }, redirectUri);
  address =
    app.url +
    authorizeAddress({
      client_id: clientId,
      redirect_uri: redirectUri,
      state: STATE,
      response_mode: 'form_post',
    });
});

afterAll(async () => {
  await chromium.close();
  frontEnd.close();
  callback.close();
  await app.close();
});

// @oauth form post 2
describe.each([
  ['with JavaScript', true],
  ['without JavaScript', false],
])('%s', (_name, javaScriptEnabled) => {
  it.each([
    ['Allow', { code: expect.stringMatching(/^sac_/), state: STATE, iss: BASE_URL }],
    ['Cancel', expect.objectContaining({ error: 'access_denied', state: STATE, iss: BASE_URL })],
  ])(
    '%s posts the response to the callback, which may redirect to another origin',
    async (button, parameters) => {
      const user = await app.user();
      const context = await chromium.newContext({ javaScriptEnabled, locale: 'en' });
      const page = await context.newPage();
      const complaints = complaintsOf(page);
      await page.goto(address);
      await page.getByLabel('Email or username').fill(user.email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('button', { name: button, exact: true }).click();
      if (!javaScriptEnabled)
        await page.getByRole('button', { name: 'Continue to Calendar Connect' }).click();
      await page.waitForURL(`${frontEnd.url}/done`);
      const [posted, ...others] = received.splice(0);
      expect(others).toEqual([]);
      expect([posted?.request.method, posted?.request.url]).toEqual(['POST', '/callback?tenant=7']);
      expect(posted?.request.headers['content-type']).toBe('application/x-www-form-urlencoded');
      expect(Object.fromEntries(new URLSearchParams(posted?.body))).toEqual(parameters);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});
