import { randomBytes } from 'node:crypto';
import { GivenUpRequests, NatsGivenUpRequests, UnconfirmedRequestError } from '#grants/given-up.js';
import type { GrantEngine } from '#grants/grant-engine.js';
import type { Granted, Refusal } from '#grants/grant.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { TOKEN_APP_BROADCASTS } from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { type RedisClient, redisClient } from '#platform/redis/redis-client.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { type Fixture, openFixture, REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { grantEngine } from '#test/support/grant-engine.js';
import { type Isolated, isolate } from '#test/support/isolate.js';
import { RestartableNats } from '#test/support/restartable-nats.js';
import { until } from '#test/support/until.js';

const TIMEOUT_MS = 500;
const KEYS = randomBytes(32).toString('base64url');
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** One process: its connections and engine. */
interface Process {
  readonly engine: GrantEngine;
  /** With single-use refresh tokens and device codes. */
  readonly strict: GrantEngine;
  readonly store: ReturnType<typeof grantEngine>['store'];
  readonly issuer: ReturnType<typeof grantEngine>['issuer'];
}

let services: Isolated;
let fixture: Fixture;
let redisOfFailing: FaultProxy;
let natsOfFailing: FaultProxy;
let client: TestClient;
let userId: number;
let failing: Process;
let other: Process;
const closing: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  services = await isolate();
  fixture = await openFixture(services, KEYS);
  [client, userId] = [await fixture.client(), await fixture.user()];
  [redisOfFailing, natsOfFailing] = await Promise.all([
    FaultProxy.start(services.redisUrl),
    FaultProxy.start(services.natsUrl),
  ]);
  failing = await startProcess(redisOfFailing.url, natsOfFailing.url, TIMEOUT_MS);
  other = await startProcess(services.redisUrl, services.natsUrl, PATIENT_MS);
});

afterAll(async () => {
  for (const close of closing) await close();
  await redisOfFailing.close();
  await natsOfFailing.close();
  await fixture.close();
  await services.close();
});

async function startProcess(redisUrl: string, natsUrl: string, timeoutMs: number): Promise<Process> {
  const redis: RedisClient = redisClient(redisUrl, timeoutMs);
  redis.on('error', () => undefined);
  const nats = new NatsConnection({ natsUrl, name: 'token', invalidations: TOKEN_APP_BROADCASTS });
  const givenUp: GivenUpRequests = new NatsGivenUpRequests(nats);
  await nats.open();
  closing.push(
    () => redis.disconnect(),
    () => nats.close(),
  );
  const options = { redis, records: fixture.records, tokenKeys: KEYS, givenUp };
  const { engine, store, issuer } = grantEngine(options);
  const { engine: strict } = grantEngine({ ...options, lifetimes: { ...DEFAULT_LIFETIMES, retryWindow: 0 } });
  await until('Redis answers', 60_000, async () => (await redis.ping()) === 'PONG');
  // Loads the scripts, so that a test fails only because of the missing response.
  return { engine, strict, store, issuer };
}

interface Fault {
  readonly nats?: boolean;
}

/** Sends a request that Redis executes, and whose response does not arrive in time. */
async function loseResponse(
  request: () => Promise<unknown>,
  wasExecuted: () => Promise<boolean>,
  { nats = false }: Fault = {},
): Promise<unknown> {
  if (nats) natsOfFailing.silence('all');
  redisOfFailing.hold();
  const failure = request().then(
    () => {
      throw new Error('the response has arrived');
    },
    (error: unknown) => error,
  );
  try {
    await until('Redis has executed the request', 60_000, wasExecuted);
    return await failure;
  } finally {
    redisOfFailing.release();
    natsOfFailing.reconnect();
    natsOfFailing.cut();
    await until('the process is connected', 60_000, () =>
      failing.engine.introspect(warm, null).then(() => true),
    );
  }
}

let warm = '';
beforeEach(async () => {
  const { pair } = granted(await redeem(failing.engine, await code()));
  warm = pair.accessToken;
  const { refreshToken } = granted(await refresh(failing.strict, pair.refreshToken)).pair;
  granted(await refresh(failing.engine, refreshToken));
});

const access = () => ({ clientId: client.client_id, jkt: null, resources: null });
const code = (pending: Parameters<Fixture['code']>[2] = {}) =>
  fixture.code(client.client_id, userId, pending);
const redeem = (engine: GrantEngine, text: string, challenge: string | null = null) =>
  engine.redeem(text, { ...access(), redirectUri: REDIRECT_URI, challenge });
const refresh = (engine: GrantEngine, token: string) => engine.refresh(token, { ...access(), scope: null });
const generationOf = async (token: string) =>
  Number(await fixture.redis.hget(`grant:${fixture.grantIdOf(token)}`, 'g'));

function granted(result: Granted | Refusal): Granted {
  if (result.outcome !== 'granted') throw new Error(result.outcome);
  return result;
}

describe('a code whose exchange failed', () => {
  const lose = (text: string, fault?: Fault, challenge: string | null = null) =>
    loseResponse(
      () => redeem(failing.engine, text, challenge),
      async () => (await generationOf(text)) === 1,
      fault,
    );

  // @reliability redis-slow
  it('can be redeemed once at any process, although Redis had executed the exchange', async () => {
    const text = await code();
    expect(await lose(text)).toBeInstanceOf(DependencyUnavailableError);
    granted(await redeem(other.engine, text));
    expect((await redeem(failing.engine, text)).outcome).toBe('code_replayed');
    expect((await redeem(other.engine, text)).outcome).toBe('revoked');
  });

  it('returns the nonce and requires the verifier of the authorization request', async () => {
    const pending = { challenge: CHALLENGE, idToken: { nonce: 'n-0S6_WzA2Mj' } };
    const [first, second] = [await code(pending), await code(pending)];
    await lose(first, {}, CHALLENGE);
    expect(granted(await redeem(other.engine, first, CHALLENGE)).idToken).toEqual(pending.idToken);
    await lose(second, {}, CHALLENGE);
    expect((await redeem(other.engine, second)).outcome).toBe('verifier_missing');
    expect((await redeem(other.engine, second, CHALLENGE.replace('E', 'F'))).outcome).toBe(
      'verifier_mismatch',
    );
    expect((await redeem(other.engine, second, CHALLENGE)).outcome).toBe('revoked');
  });

  it('can be redeemed by one of many concurrent requests', async () => {
    const text = await code();
    await lose(text);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => redeem(n % 2 === 0 ? other.engine : failing.engine, text)),
    );
    expect(answers.filter(({ outcome }) => outcome === 'granted')).toHaveLength(1);
  });

  it('is void after its grant was revoked', async () => {
    const text = await code();
    await lose(text);
    await other.store.revoke(fixture.grantIdOf(text), 3600);
    expect((await redeem(other.engine, text)).outcome).toBe('revoked');
  });

  it('is void after its session has ended', async () => {
    const text = await code();
    await lose(text);
    await other.store.voidCode(fixture.grantIdOf(text), client.client_id, 3600);
    expect((await redeem(other.engine, text)).outcome).toBe('code_replayed');
  });

  it('is lost if the failure cannot be announced, and the error does not ask for a repetition', async () => {
    const text = await code();
    expect(await lose(text, { nats: true })).toBeInstanceOf(UnconfirmedRequestError);
  });

  it('is replayed if another request has redeemed it', async () => {
    const text = await code();
    granted(await redeem(other.engine, text));
    redisOfFailing.hold();
    const failure = await redeem(failing.engine, text).catch((error: unknown) => error);
    redisOfFailing.release();
    expect(failure).toBeInstanceOf(DependencyUnavailableError);
    expect((await redeem(other.engine, text)).outcome).toBe('code_replayed');
  });
});

describe('a single-use refresh token whose refresh failed', () => {
  it('returns its successor once, at any process', async () => {
    const { refreshToken } = granted(await redeem(failing.engine, await code())).pair;
    await loseResponse(
      () => refresh(failing.strict, refreshToken),
      async () => (await generationOf(refreshToken)) === 2,
    );
    granted(await refresh(other.strict, refreshToken));
    expect((await refresh(failing.strict, refreshToken)).outcome).toBe('refresh_token_reused');
  });

  it('is reused if the client has received the response', async () => {
    const { refreshToken } = granted(await redeem(other.engine, await code())).pair;
    granted(await refresh(other.strict, refreshToken));
    expect((await refresh(other.strict, refreshToken)).outcome).toBe('refresh_token_reused');
  });

  it('is reused if a refresh succeeded, and a refresh that kept the successor failed', async () => {
    const request = { ...access(), jkt: 'A'.repeat(43), scope: null };
    const { refreshToken } = granted(
      await other.engine.redeem(await code(), { ...request, redirectUri: REDIRECT_URI, challenge: null }),
    ).pair;
    const successor = granted(await other.strict.refresh(refreshToken, request)).pair.refreshToken;
    redisOfFailing.hold();
    const failure = await failing.strict
      .refresh(successor, { ...request, keepsRefreshToken: true })
      .catch((error: unknown) => error);
    redisOfFailing.release();
    expect(failure).toBeInstanceOf(DependencyUnavailableError);
    expect((await other.strict.refresh(refreshToken, request)).outcome).toBe('refresh_token_reused');
  });
});

describe('a single-use device code whose poll failed', () => {
  it('returns its tokens once, at any process', async () => {
    const { code: deviceCode, grantId } = other.issuer.deviceCode(Date.now());
    const grant = { clientId: client.client_id, userId, scope: 'profile:read', resources: null };
    await other.store.request(grantId, client.client_id, null, 3600);
    await other.store.approve(grantId, { ...grant, externalId: null }, Date.now());
    await loseResponse(
      () => failing.strict.poll(deviceCode, access()),
      async () => (await generationOf(deviceCode)) === 1,
    );
    granted(await other.strict.poll(deviceCode, access()));
    expect((await failing.strict.poll(deviceCode, access())).outcome).toBe('code_replayed');
  });
});

describe('a request that was given up', () => {
  it('is not announced if the permissions of NATS forbid the broadcast', async () => {
    const server = await RestartableNats.start(
      `no_auth_user: token
       authorization { users: [{ user: token, password: unused, permissions { publish: "_INBOX.>" } }] }`,
    );
    const nats = new NatsConnection({
      natsUrl: server.url,
      name: 'token',
      invalidations: TOKEN_APP_BROADCASTS,
    });
    const givenUp = new NatsGivenUpRequests(nats);
    await nats.open();
    const isAnnounced = await givenUp.announce('a-request');
    await nats.close();
    await server.stop();
    expect(isAnnounced).toBe(false);
  });
});
