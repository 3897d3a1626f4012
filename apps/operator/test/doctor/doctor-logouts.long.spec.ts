import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  LOGOUT_STREAM,
  LOGOUT_SUBJECTS,
  sessionsEnded,
  storeLogout,
} from '#messaging/logout/logout-queue.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS } from '#test/support/keys.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { AREAS } from '#diagnosis/finding.js';
import { jsonOf, runCommand } from '../support/use-operator.js';

const HOUR_MS = 3_600_000;

let services: Isolated;
let fixture: Fixture;
let nats: NatsConnection;
let token: AppProcess;
let receiver: Awaited<ReturnType<typeof startLogoutReceiver>>;
let env: Record<string, string>;

const startToken = () => startApp('token', { ...env, LOG_LEVEL: 'fatal' });

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
  token = await startToken();
  fixture = await openFixture(services, env['TOKEN_KEYS'] ?? '');
  nats = await connect(natsOptions(services.natsUrl, 'doctor test'));
});

afterAll(async () => {
  await Promise.all([token.stop(), nats.close()]);
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
async function refusedLogout(status: number, at = Date.now()): Promise<string> {
  const session = randomBytes(32).toString('base64url');
  const path = `/${session}`;
  receiver.statuses.set(path, status);
  const clientId = await fixture.sessionClient(receiver.url + path, await fixture.user(), session);
  await storeLogout(nats, LOGOUT_SUBJECTS.ended('authorize'), sessionsEnded({ session }, at));
  await auditEvents(services.natsUrl, { types: ['logout_token.failed'], clientId });
  return clientId;
}

const explained = async (clientId: string) =>
  jsonOf(await runCommand(['explain', '--client', clientId, '--json'], env)) as {
    refused: number;
    logouts: number;
    groups: object[];
  };

it('doctor finds no fault in the queue that the token app has created', async () => {
  const { findings, holding } = await report();
  expect(findings).toEqual([]);
  expect(holding).toEqual(
    expect.arrayContaining(['logout-queue-unreadable', 'logout-queue-differs', 'logout-tokens-failed']),
  );
});

it('doctor and explain report an application that refuses a logout token', async () => {
  const clientId = await refusedLogout(400);
  expect((await report()).findings.filter(({ subject }) => subject.includes(clientId))).toMatchObject([
    {
      check: 'logout-tokens-failed',
      subject: `${clientId} "Room Finder"`,
      problem: expect.stringMatching(/refused 1 logout tokens, and 0 were dropped .*: status 400$/),
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

it('doctor reports a logout token that was dropped after an hour', async () => {
  const clientId = await refusedLogout(503, Date.now() - HOUR_MS);
  const [finding] = (await report()).findings.filter(({ subject }) => subject.includes(clientId));
  expect(finding?.problem).toMatch(/refused 0 logout tokens, and 1 were dropped .*: status 503$/);
});

it('explain reports the cause of a delayed logout token', async () => {
  const clientId = await refusedLogout(503);
  expect((await explained(clientId)).groups).toMatchObject([
    { check: 'logout_token_delayed', failure: 'status 503' },
  ]);
  expect((await report()).findings.filter(({ subject }) => subject.includes(clientId))).toEqual([]);
});

it('the metrics contain the length of the queue and the age of its oldest log-out', async () => {
  const metrics = await (await fetch(`${token.internalUrl}/metrics`)).text();
  // The queue contains the delayed logout token.
  expect(metrics).toMatch(/^oauth_logout_queue_messages\{service="token"\} [1-9]/m);
  expect(metrics).toMatch(/^oauth_logout_queue_oldest_seconds\{service="token"\} \d+\.\d+$/m);
});

it('doctor reports wrong limits of the queue until a token app starts and corrects them', async () => {
  const { streams } = await jetstreamManager(nats);
  await streams.update(LOGOUT_STREAM, { max_bytes: 1024 * 1024 });
  expect((await report()).findings).toContainEqual(
    expect.objectContaining({
      check: 'logout-queue-differs',
      problem: expect.stringContaining('its max_bytes are not'),
    }),
  );
  await token.stop();
  token = await startToken();
  expect((await report()).holding).toContain('logout-queue-differs');
});
