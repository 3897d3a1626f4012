import { KeyRing } from '#grants/key-ring.js';
import { grantId } from '#grants/grant-id.js';
import { TokenCodec } from '#grants/token-codec.js';
import type { Client } from '#directory/client.js';
import type { User } from '#directory/user.js';
import {
  type AuthorizeApp,
  authorizeAddress,
  BASE_URL,
  handedBack,
  REDIRECT_URI,
  startAuthorizeApp,
} from './authorize-app.js';

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const AUTHORIZE = '/auth/oauth2/authorize';

let app: AuthorizeApp;
let client: Client;
let user: User;

beforeAll(async () => {
  app = await startAuthorizeApp();
  client = await app.client();
  user = await app.user();
});

afterAll(() => app.close());

const address = (more: Record<string, string | undefined> = {}) =>
  authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's1', ...more });

describe('the consent page', () => {
  it('says who asks, for what, as which account, and where the user will be sent', async () => {
    const page = await (await app.loggedIn(user)).get(address());
    expect(page.status).toBe(200);
    expect(page.text).toContain('Calendar Connect');
    expect(page.text).toContain('See your profile');
    expect(page.text).toContain(user.name);
    expect(page.text).toContain(user.email);
    expect(page.text).toContain('<strong>app.example.com</strong>');
    expect(page.text).toMatch(/name="decision" value="allow">\s*Allow/);
    expect(page.text).toMatch(/name="decision" value="deny">\s*Deny/);
  });

  it.each([
    ['com.example.pocket:/callback', 'the app com.example.pocket on this device'],
    ['http://127.0.0.1/callback', 'an app on this computer (127.0.0.1)'],
  ])('describes %s in words', async (redirectUri, words) => {
    const pocket = await app.client({ type: 'public' }, redirectUri);
    const page = await (
      await app.loggedIn(user)
    ).get(
      address({
        client_id: pocket.clientId,
        redirect_uri: redirectUri,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      }),
    );
    expect(page.text).toContain(words);
  });

  it('asks again, though the user allowed the same before (RFC 6749 10.2)', async () => {
    const browser = await app.loggedIn(user);
    await browser.submit(await browser.get(address()), { decision: 'allow' }, AUTHORIZE);
    const again = await browser.get(address());
    expect(again.status).toBe(200);
    expect(again.text).toMatch(/name="decision" value="allow">\s*Allow/);
  });

  it('logs out who is somebody else, and goes on with the same request', async () => {
    const browser = await app.loggedIn(user);
    const out = await browser.submit(await browser.get(address()), {}, '/auth/logout');
    expect(out.status).toBe(303);
    expect(out.headers['location']).toBe(address().replace(AUTHORIZE, '/auth/login'));
    expect((await browser.follow(out)).text).toContain('Log in');
  });
});

describe('Allow', () => {
  it('sends code, state and iss to the redirect URI, whose own query is kept', async () => {
    const browser = await app.loggedIn(user);
    const answer = await browser.submit(await browser.get(address()), { decision: 'allow' }, AUTHORIZE);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toMatch(
      /^https:\/\/app\.example\.com\/callback\?tenant=7&x=%2F&code=sac_/,
    );
    expect(handedBack(answer.headers['location'])).toEqual({
      tenant: '7',
      x: '/',
      code: expect.stringMatching(/^sac_/),
      state: 's1',
      iss: BASE_URL,
    });
  });

  it('records the grant in PostgreSQL, and in Redis as a pending one that lives as long as its code', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address({ code_challenge: CHALLENGE, code_challenge_method: 'S256' }));
    const answer = await browser.submit(page, { decision: 'allow' }, AUTHORIZE);
    const codec = new TokenCodec(KeyRing.parse(app.configuration.TOKEN_KEYS));
    const code = codec.decode(handedBack(answer.headers['location'])['code'] ?? '');
    if (!code) throw new Error('the code is not one of ours');
    const id = grantId(code.handle);
    expect(await app.records.find(id)).toMatchObject({
      userId: user.id,
      clientId: client.clientId,
      scope: 'profile:read',
      revokedAt: null,
    });
    expect(await app.redis.hgetall(`grant:${id}`)).toMatchObject({
      status: 'pending',
      client: client.clientId,
      user: String(user.id),
      scope: 'profile:read',
      redirect_uri: REDIRECT_URI,
      challenge: CHALLENGE,
    });
    const ttl = await app.redis.ttl(`grant:${id}`);
    expect(ttl).toBeGreaterThan(60);
    expect(ttl).toBeLessThanOrEqual(65);
    expect(code.expiry - Date.now() / 1000).toBeLessThanOrEqual(60);
  });

  it('clicked twice gives two independent codes', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    const answers = await Promise.all(
      [1, 2].map(() => browser.submit(page, { decision: 'allow' }, AUTHORIZE)),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const codes = answers.map(({ headers }) => handedBack(headers['location'])['code']);
    expect(new Set(codes).size).toBe(2);
  });

  it('leaves a custom-scheme redirect URI as it was registered', async () => {
    const redirectUri = 'com.example.pocket:/Callback/%7Eada?Mode=A';
    const pocket = await app.client({ type: 'public' }, redirectUri);
    const browser = await app.loggedIn(user);
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    const request = address({ client_id: pocket.clientId, redirect_uri: redirectUri, ...pkce });
    const answer = await browser.submit(await browser.get(request), { decision: 'allow' }, AUTHORIZE);
    expect(answer.headers['location']).toMatch(/^com\.example\.pocket:\/Callback\/%7Eada\?Mode=A&code=sac_/);
  });

  it('validates the request again', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    const field = /name="csrf_token" value="([^"]+)" \/>\s*<button class="even"/.exec(page.text)?.[1] ?? '';
    const other = address({ redirect_uri: 'https://evil.example/' });
    const answer = await browser.post(other, { csrf_token: field, decision: 'allow' });
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
  });

  it('after the session has ended goes to the login and on from there', async () => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(address());
    await app.redis.flushdb();
    const answer = await browser.submit(page, { decision: 'allow' }, AUTHORIZE);
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe(address().replace(AUTHORIZE, '/auth/login'));
  });
});

describe('Deny', () => {
  it('sends access_denied, state and iss to the redirect URI and creates nothing', async () => {
    const browser = await app.loggedIn(user);
    const before = await app.redis.keys('grant:*');
    const answer = await browser.submit(await browser.get(address()), { decision: 'deny' }, AUTHORIZE);
    expect(answer.status).toBe(303);
    expect(handedBack(answer.headers['location'])).toEqual({
      tenant: '7',
      x: '/',
      error: 'access_denied',
      error_description: 'the user denied the request',
      state: 's1',
      iss: BASE_URL,
    });
    expect((await app.redis.keys('grant:*')).sort()).toEqual(before.sort());
  });

  it.each(['', 'ALLOW', 'allow\0'])('and Allow are the only decisions: %j is refused', async (decision) => {
    const browser = await app.loggedIn(user);
    const answer = await browser.submit(await browser.get(address()), { decision }, AUTHORIZE);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('must be allow or deny');
  });
});
