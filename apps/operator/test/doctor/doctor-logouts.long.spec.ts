import { randomBytes } from 'node:crypto';
import { LogoutStore } from '#events/logout.store.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS } from '#test/support/keys.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { AREAS } from '#diagnosis/finding.js';
import { jsonOf, runCommand } from '../support/use-operator.js';

let services: Isolated;
let fixture: Fixture;
let token: AppProcess;
let receiver: Awaited<ReturnType<typeof startLogoutReceiver>>;
let env: Record<string, string>;

beforeAll(async () => {
  services = await isolate();
  receiver = await startLogoutReceiver();
  env = {
    ...appSettings(services),
    API_URL: 'https://api.example.com',
    TOKEN_KEYS: randomBytes(32).toString('base64url'),
    ID_TOKEN_KEYS,
    OUTSIDE_FETCH_ALLOW: '127.0.0.1',
  };
  token = await startApp('token', { ...env, LOG_LEVEL: 'fatal' });
  fixture = await openFixture(services, env['TOKEN_KEYS'] ?? '');
});

afterAll(async () => {
  await token.stop();
  receiver.close();
  await fixture.close();
  await services.close();
});

interface Report {
  findings: { check: string; subject: string; problem: string; remedy: string }[];
  holding: string[];
}

async function report(): Promise<Report> {
  const others = AREAS.filter((area) => area !== 'logouts');
  const { stdout } = await runCommand(['doctor', '--json', '--skip', ...others], env);
  return JSON.parse(stdout) as Report;
}

/** Ends a session at a new client that responds with this status. @returns the client id */
async function refusedLogout(status: number, change = ''): Promise<string> {
  const session = randomBytes(32).toString('base64url');
  const path = `/${session}`;
  receiver.statuses.set(path, status);
  const clientId = await fixture.sessionClient(receiver.url + path, await fixture.user(), session);
  if (change !== '') await fixture.sql(`UPDATE event_streams SET ${change} WHERE client_id = $1`, [clientId]);
  await fixture.store(LogoutStore).sessionEnded(session);
  await auditEvents(services.natsUrl, { types: ['logout_token.failed'], clientId });
  return clientId;
}

const explained = async (clientId: string) =>
  jsonOf(await runCommand(['explain', '--client', clientId, '--json'], env)) as {
    refused: number;
    logouts: number;
    groups: object[];
  };

it('doctor finds no fault if no application has failed', async () => {
  expect(await report()).toMatchObject({ findings: [], holding: ['logout-tokens-failed'] });
});

it('doctor and explain report an application that refuses a logout token', async () => {
  const clientId = await refusedLogout(400);
  expect((await report()).findings.filter(({ subject }) => subject.includes(clientId))).toMatchObject([
    {
      check: 'logout-tokens-failed',
      subject: `${clientId} "Room Finder"`,
      problem: expect.stringMatching(/refused 1 logout tokens; .*: status 400$/),
    },
  ]);
  expect(await explained(clientId)).toMatchObject({
    refused: 0,
    logouts: 1,
    groups: [{ check: 'logout_token_refused', failure: 'status 400', count: 1, party: 'application' }],
  });
  const { stdout } = await runCommand(['explain', '--client', clientId], env);
  expect(stdout).toMatch(
    /^Since \S+, 0 requests of \w+ refused; 1 logout token not accepted; 0 other events\.$/m,
  );
  expect(stdout).toMatch(/^Failure +status 400$/m);
});

it('doctor reports an application that has failed for a day', async () => {
  const clientId = await refusedLogout(503, "failing_since = now() - interval '25 hours'");
  const [finding] = (await report()).findings.filter(({ subject }) => subject.includes(clientId));
  expect(finding?.problem).toMatch(/refused 0 logout tokens, and the delivery is paused; .*: status 503$/);
});

it('explain reports the cause of a delayed logout token', async () => {
  const clientId = await refusedLogout(503);
  expect((await explained(clientId)).groups).toMatchObject([
    { check: 'logout_token_delayed', failure: 'status 503' },
  ]);
  expect((await report()).findings.filter(({ subject }) => subject.includes(clientId))).toEqual([]);
});

it('the metrics contain the number of receivers that fail, and of paused ones', async () => {
  const metrics = await (await fetch(`${token.internalUrl}/metrics`)).text();
  expect(metrics).toMatch(/^oauth_event_streams_failing\{service="token"\} 1$/m);
  expect(metrics).toMatch(/^oauth_event_streams_paused\{service="token"\} 1$/m);
  expect(metrics).toMatch(/^oauth_events_total\{outcome="refused",delivery="logout",service="token"\} 1$/m);
});
