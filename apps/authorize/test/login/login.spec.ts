import { authorizeAddress, PASSWORD, REDIRECT_URI } from '../support/start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const { app, client, user } = useAuthorizeApp();

const WRONG = 'Incorrect username or password.';

describe('the login page', () => {
  it('has labelled fields that password managers recognize', async () => {
    const { status, text } = await app.browser().get('/auth/login');
    expect(status).toBe(200);
    expect(text).toMatch(/<label for="username">[\s\S]*<input\s+id="username"\s+name="username"/);
    expect(text).toMatch(/autocomplete="username"/);
    expect(text).toMatch(
      /<label for="password">[\s\S]*name="password"\s+type="password"\s+autocomplete="current-password"/,
    );
    expect(text.match(/<h1>/g)).toHaveLength(1);
    expect(text).toContain('<html lang="en" dir="ltr">');
    expect(text).not.toMatch(/<script(?! src="\/auth\/script\/)|style="|\bon\w+="/);
  });

  it('is skipped for a user who is logged in', async () => {
    const browser = await app.loggedIn(user);
    expect((await browser.get('/auth/login')).headers['location']).toBe('/auth/');
    const query = 'client_id=x&state=a%20b';
    expect((await browser.get(`/auth/login?${query}`)).headers['location']).toBe(
      `/auth/oauth2/authorize?${query}`,
    );
  });
});

describe('a login', () => {
  it.each([
    ['e-mail address', () => user.email],
    ['user name', () => user.username],
    ['e-mail address in another case, surrounded by spaces', () => `  ${user.email.toUpperCase()} `],
  ])('accepts the %s', async (_case, username) => {
    const browser = app.browser();
    const answer = await browser.submit(await browser.get('/auth/login'), {
      username: username(),
      password: PASSWORD,
    });
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe('/auth/');
    expect((await browser.follow(answer)).text).toContain(user.email);
  });

  // @rfc 6749 3.1
  it('redirects to the consent page of the original request', async () => {
    const browser = app.browser();
    const address = authorizeAddress({
      client_id: client.clientId,
      redirect_uri: REDIRECT_URI,
      state: 'a&+%"<',
    });
    const login = await browser.follow(await browser.get(address));
    const answer = await browser.submit(login, { username: user.email, password: PASSWORD });
    expect(answer.headers['location']).toBe(address);
    expect((await browser.follow(answer)).text).toContain('Calendar Connect');
  });

  it('continues a request whose parameter names are percent-encoded', async () => {
    const browser = app.browser();
    const login = await browser.get('/auth/login?client%5Fid=x');
    const answer = await browser.submit(login, { username: user.email, password: PASSWORD });
    expect(answer.headers['location']).toBe('/auth/oauth2/authorize?client%5Fid=x');
  });

  // @rfc 6749 10.15 @rfc 9700 2.1
  it('ignores other redirect targets in the query', async () => {
    const browser = app.browser();
    const login = await browser.get('/auth/login?return_to=https://evil.example/&next=//evil.example');
    const answer = await browser.submit(login, { username: user.email, password: PASSWORD });
    expect(answer.headers['location']).toBe('/auth/');
  });
});

describe('a failed login', () => {
  const attempt = async (username: string, password: string) => {
    const browser = app.browser();
    return browser.submit(await browser.get('/auth/login'), { username, password });
  };

  it.each([
    ['a wrong password', () => attempt(user.email, `${PASSWORD}!`)],
    ['an unknown user', () => attempt('nobody@example.com', PASSWORD)],
    ['a NUL in the user name', () => attempt(`${user.email}\0`, PASSWORD)],
    ['an SQL wildcard', () => attempt('%', PASSWORD)],
  ])('gets 401 and a message that does not reveal the cause: %s', async (_case, send) => {
    const page = await send();
    expect(page.status).toBe(401);
    expect(page.text).toContain(`<p role="alert" id="problem">${WRONG}</p>`);
    expect(page.text).toContain('<title>Error: Log in · Scheduling</title>');
    expect(page.text).toContain('aria-describedby="problem"');
  });

  it('keeps the user name in the form, but never the password', async () => {
    const page = await attempt('nobody@example.com', 'my secret <word>');
    expect(page.text).toContain('value="nobody@example.com"');
    expect(page.text).not.toContain('my secret');
    expect(page.text).not.toMatch(/type="password"[^>]*value=/);
  });

  it.each(['"><script>alert(1)</script>', "' autofocus onfocus='alert(1)", '</title><b>'])(
    'shows the user name %s as text only',
    async (username) => {
      const page = await attempt(username, 'x');
      expect(page.text).not.toContain(username);
      expect(page.text).not.toMatch(/<script(?! src="\/auth\/script\/)|<b>/);
    },
  );

  it('keeps the authorization request', async () => {
    const browser = app.browser();
    const query = 'client_id=x&state=%22%3E%3Cb%3E&y=<b>';
    const page = await browser.submit(await browser.get(`/auth/login?${query}`), {
      username: 'x',
      password: 'y',
    });
    expect(formsOf(page.text)[0]?.action).toBe(`/auth/login?${query.replace('<b>', '%3Cb%3E')}`);
  });

  it.each([
    ['no user name', { username: '', password: 'x' }, 'Enter your'],
    ['no password', { username: 'ada', password: '' }, 'Enter your'],
    ['a long user name', { username: 'x'.repeat(255), password: 'x' }, 'longer than 254'],
    ['a long password', { username: 'ada', password: 'x'.repeat(257) }, 'longer than 256'],
    ['a nested user name', { 'username[a]': 'x', password: 'x' }, 'Enter your'],
  ])('gets 400 and a clear message for %s', async (_case, fields, message) => {
    const browser = app.browser();
    const page = await browser.submit(await browser.get('/auth/login'), fields);
    expect(page.status).toBe(400);
    expect(page.text).toContain(message);
  });
});

describe('the account page', () => {
  it.each(['/auth/', '/auth'])('shows who is logged in and has a working logout form at %s', async (path) => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(path);
    expect(page.text).toContain(user.email);
    const out = await browser.submit(page, {});
    expect(out.headers['location']).toBe('/auth/login?done');
    expect((await browser.get(path)).headers['location']).toBe('/auth/login');
  });
});
