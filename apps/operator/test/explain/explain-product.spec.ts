import { auditEvents } from '#test/support/audit-trail.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { runCommand } from '../support/run-operator.js';
import { useRunningApps } from '../support/use-running-apps.js';

const { env, urls, fixture } = useRunningApps(['authorize', 'token', 'resource']);
let client: TestClient;
let userId: number;

beforeAll(async () => {
  client = await fixture.client();
  userId = await fixture.user();
});

async function post(path: string, parameters: Record<string, string>): Promise<Record<string, string>> {
  const answer = await fetch(`${urls.token}/api/auth/oauth/${path}`, {
    method: 'POST',
    body: new URLSearchParams({ ...client, ...parameters }),
  });
  return (await answer.json()) as Record<string, string>;
}

const redeem = async (code: string, redirect_uri = REDIRECT_URI) =>
  post('token', { grant_type: 'authorization_code', code, redirect_uri });

function authorize(parameters: Record<string, string>): Promise<Response> {
  const query = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    state: 's',
    ...parameters,
  });
  return fetch(`${urls.authorize}/auth/oauth2/authorize?${query}`, { redirect: 'manual' });
}

/** Explains a reference as text and JSON after its events are stored. Neither output may contain `secrets`. */
async function explain(
  reference: string,
  secrets: readonly string[] = [],
  events = 1,
): Promise<Record<string, unknown>> {
  await auditEvents(env.NATS_URL, { reference }, events);
  const text = await runCommand(['explain', reference], env);
  const json = await runCommand(['explain', reference, '--json'], env);
  expect([text.code, text.stderr, json.code]).toEqual([0, '', 0]);
  for (const secret of [...secrets, client.client_secret])
    expect(text.stdout + json.stdout).not.toContain(secret);
  return JSON.parse(json.stdout) as Record<string, unknown>;
}

describe('explain for requests to the running product', () => {
  it('finds the registered redirect URI that is closest to the rejected one', async () => {
    const page = await (await authorize({ redirect_uri: `${REDIRECT_URI}/` })).text();
    const [, reference = ''] = /Reference: <code>([\w-]{12})<\/code>/.exec(page) ?? [];
    expect(await explain(reference)).toMatchObject({
      check: 'redirect_uri_unregistered',
      client_id: client.client_id,
      values: expect.arrayContaining([{ name: 'sent', value: `${REDIRECT_URI}/` }]),
      differences: [{ marked: `${REDIRECT_URI}{+/+}` }],
      remedies: expect.arrayContaining([
        {
          party: 'operator',
          action: 'If the address is the application’s, register it.',
          commands: [`operator client update ${client.client_id} --add-redirect-uri '${REDIRECT_URI}/'`],
        },
      ]),
    });
  });

  it('finds the reason for a rejected code, and earlier events of the client', async () => {
    const { access_token = '' } = await redeem(await fixture.code(client.client_id, userId));
    const code = await fixture.code(client.client_id, userId);
    const { error_reference: reference = '' } = await redeem(code, 'https://app.example.com/callback');
    const explanation = await explain(reference, [code, access_token]);
    expect(explanation).toMatchObject({
      check: 'redirect_uri_mismatch',
      differences: [{ sent: 'https://app.example.com/callback', expected: REDIRECT_URI }],
      around: expect.arrayContaining([expect.objectContaining({ type: 'token.issued' })]),
    });
  });

  it('finds the failed check of a token that an API rejected', async () => {
    const pair = await redeem(await fixture.code(client.client_id, userId));
    const { access_token: token = '' } = pair;
    await post('revoke', { token });
    const answer = await fetch(`${urls.resource}/v2/me`, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
    const reference = answer.headers.get('error-reference') ?? '';
    const explanation = await explain(reference, [token], 2);
    expect(explanation).toMatchObject({
      check: 'revoked',
      // Only the record of the grant contains these values.
      client_id: client.client_id,
      user_id: userId,
      around: expect.arrayContaining([expect.objectContaining({ type: 'grant.revoked' })]),
      event: { service: 'token' },
      other_events: [{ service: 'resource', error: 'invalid_token', check: 'access_token_inactive' }],
    });
    const { stdout: page } = await runCommand(['explain', reference], env);
    expect(page).toMatch(/^Request +GET \/v2\/me$/m);
    expect(page).toMatch(/^Answer +401 invalid_token$/m);
    const { stdout } = await runCommand(['explain', '--client', client.client_id, '--json'], env);
    expect((JSON.parse(stdout) as { groups: unknown[] }).groups).toContainEqual(
      expect.objectContaining({ check: 'revoked', error: 'invalid_token', reference }),
    );
  });

  it('groups all refused requests of a client', async () => {
    const { headers } = await authorize({ scope: 'profile:reed' });
    const callback = new URL(headers.get('location') ?? '');
    expect(callback.searchParams.get('error')).toBe('invalid_scope');
    const explanation = await explain(callback.searchParams.get('error_reference') ?? '');
    expect(explanation).toMatchObject({
      check: 'scope_unregistered',
      differences: [{ marked: 'profile:re[-a-]{+e+}d' }],
    });
    await auditEvents(env.NATS_URL, { clientId: client.client_id, types: ['request.refused'] }, 3);
    const { stdout } = await runCommand(['explain', '--client', client.client_id, '--json'], env);
    const { groups } = JSON.parse(stdout) as { groups: { check: string; count: number }[] };
    expect(groups.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['redirect_uri_unregistered', 'redirect_uri_mismatch', 'scope_unregistered']),
    );
  });
});
