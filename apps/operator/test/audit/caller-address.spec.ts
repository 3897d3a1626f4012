import request, { type Test } from 'supertest';
import type { AuditEvent } from '#audit/event.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { jsonOf, runCommand } from '../support/run-operator.js';
import { useRunningApps } from '../support/use-running-apps.js';

const OURS = { 'X-Forwarded-For': '203.0.113.7', 'User-Agent': 'calendar/2.1' };
const THIEF = { 'X-Forwarded-For': '2001:DB8:0:0::1', 'User-Agent': 'curl/8.5.0' };

const { env, urls, fixture } = useRunningApps(['authorize', 'token', 'resource'], {
  TRUSTED_PROXIES: '127.0.0.1/32',
  AUDIT_CLIENT_ADDRESS: 'true',
  RETRY_WINDOW: '0',
});
let client: TestClient;
let userId: number;

beforeAll(async () => {
  client = await fixture.client();
  userId = await fixture.user();
});

const refused = async (test: Test): Promise<AuditEvent | undefined> => {
  const { headers, text } = await test;
  const shown = /[\w-]{12}(?=<\/code>)|(?<="error_reference":")[\w-]{12}/.exec(text)?.[0];
  const reference = String(headers['error-reference'] ?? shown);
  return (await auditEvents(env.NATS_URL, { reference }))[0];
};

const unknownToken = (headers: Readonly<Record<string, string>>) =>
  refused(request(urls.token).post('/api/auth/oauth/token').set(headers).type('form').send('grant_type=x'));

const refresh = (refresh_token: string, headers: Readonly<Record<string, string>>) =>
  request(urls.token)
    .post('/api/auth/oauth/refreshToken')
    .set(headers)
    .type('form')
    .send({ ...client, grant_type: 'refresh_token', refresh_token });

async function issued(): Promise<string> {
  const code = await fixture.code(client.client_id, userId);
  const { body } = await request(urls.token)
    .post('/api/auth/oauth/token')
    .set(OURS)
    .type('form')
    .send({ ...client, grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
  return (body as { refresh_token: string }).refresh_token;
}

describe('AUDIT_CLIENT_ADDRESS=true', () => {
  it('records the address and the user agent of a request to every app', async () => {
    const events = [
      await refused(request(urls.authorize).get('/auth/oauth2/authorize?client_id=x').set(OURS)),
      await unknownToken(OURS),
      await refused(request(urls.resource).get('/v2/me').set(OURS)),
    ];
    const caller = { address: '203.0.113.7', user_agent: 'calendar/2.1' };
    expect(events).toEqual(
      ['authorize', 'token', 'resource'].map((service) => expect.objectContaining({ service, ...caller })),
    );
  });

  it('records only valid addresses, in canonical form', async () => {
    expect(await unknownToken(THIEF)).toMatchObject({ address: '2001:db8::1' });
    expect(await unknownToken({ 'X-Forwarded-For': '::ffff:203.0.113.7' })).toMatchObject({
      address: '203.0.113.7',
    });
    for (const forged of ['x'.repeat(5_000), '<b>', '203.0.113.7:80', 'fe80::1%\u009b31m'])
      expect(await unknownToken({ 'X-Forwarded-For': forged })).not.toHaveProperty('address');
  });

  it('limits the length of the user agent and replaces its control characters', async () => {
    const { user_agent: agent = '' } =
      (await unknownToken({ 'User-Agent': `a\u009b31m${'b'.repeat(5_000)}` })) ?? {};
    expect(agent).toHaveLength(200);
    expect(agent).toMatch(/^aÂ\uFFFD31mb+$/);
    expect(agent).not.toMatch(/\p{C}/u);
  });
});

describe('a reused refresh token', () => {
  it('is explained with all uses of the grant and both possible causes', async () => {
    const token = await issued();
    await refresh(token, THIEF);
    const reuse = await refused(refresh(token, OURS));
    const { stdout } = await runCommand(['explain', String(reuse?.reference)], env);
    expect(stdout).toMatch(/^Address +203\.0\.113\.7$/m);
    expect(stdout).toMatch(/^User agent +calendar\/2\.1$/m);
    expect(stdout).toMatch(/stolen.*application sent an old one/);
    const [, section = ''] = /\nUses of the grant\n(.*?)\n\n/s.exec(stdout) ?? [];
    const rows = section.split('\n').map((line) => line.split(/ {2,}/).slice(1, 5));
    expect(rows).toEqual([
      ['event', 'generation', 'address', 'user_agent'],
      ['token.issued', '1', '203.0.113.7', 'calendar/2.1'],
      ['token.refreshed', '2', '2001:db8::1', 'curl/8.5.0'],
      ['token.reuse_detected', '1', '203.0.113.7', 'calendar/2.1'],
    ]);
    expect(stdout).not.toContain('AUDIT_CLIENT_ADDRESS is not true');
    const json = jsonOf(await runCommand(['explain', String(reuse?.reference), '--json'], env));
    expect(json).toMatchObject({ uses: [{}, { address: '2001:db8::1' }, {}] });
  });

  it('appears in audit search with address and user agent', async () => {
    const { stdout } = await runCommand(['audit', 'search', '--client', client.client_id], env);
    expect(stdout).toMatch(/^time .* address +user_agent +summary$/m);
    expect(stdout).toMatch(/ 2001:db8::1 +curl\/8\.5\.0 /);
  });
});
