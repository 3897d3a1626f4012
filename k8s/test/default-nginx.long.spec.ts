import {
  PASSWORD,
  REDIRECT_URI,
  useAuthorizeApp,
} from '../../apps/authorize/test/support/start-authorize-app.js';
import { Browser } from '#test/support/browser.js';
import { asItsUser, type Ingress, type NginxPlace, startNginx } from './nginx.js';

const { app, client, user } = useAuthorizeApp();

const proxy = ({ folder, port }: NginxPlace): string => `
daemon off;
${asItsUser}
pid ${folder}/pid;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass ${app.url}; }
  }
}
`;

describe('nginx with its default buffers', () => {
  let nginx: Ingress;
  beforeAll(async () => {
    nginx = await startNginx(proxy);
  });
  afterAll(() => nginx.stop());

  it.each([
    ['a state of 600 characters that are not Latin', { state: '語'.repeat(600) }],
    ['a request of 4 kB', { state: 's', unknown: 'x'.repeat(4_000) }],
    ['the longest posted request', { state: 's', unknown: 'x'.repeat(7_700) }],
  ])('passes %s from the login page to the application', async (_case, more) => {
    const server = `http://127.0.0.1:${nginx.port}`;
    const parameters = { client_id: client.clientId, redirect_uri: REDIRECT_URI, ...more };
    const browser = new Browser(server);
    const posted = await browser.post('/auth/oauth2/authorize', parameters);
    expect(posted.status).toBe(303);
    const granted = await browser.allow(new URL(posted.headers['location'] ?? '', server), {
      email: user.email,
      password: PASSWORD,
    });
    expect(granted.searchParams.get('state')).toBe(more.state);
    expect(granted.searchParams.get('code')).toMatch(/^sac_/);

    const link = new URL(`/auth/oauth2/authorize?${new URLSearchParams(parameters).toString()}`, server);
    const linked = await browser.allow(link, { email: user.email, password: PASSWORD });
    expect(linked.searchParams.get('state')).toBe(more.state);
  });
});
