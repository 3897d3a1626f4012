import 'reflect-metadata';
import { Redis } from 'ioredis';
import { databaseDataSource } from '#database/data-source.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { GivenUpRequests } from '#grants/given-up.js';
import type { Granted, Refusal } from '#grants/grant.js';
import { DEFAULT_LIFETIMES } from '#grants/lifetimes.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { grantEngine } from '#test/support/grant-engine.js';

/** Command for an engine process. `now` is the time of the process's clock, in milliseconds since the epoch. */
export type EngineCommand =
  | { readonly do: 'allow'; readonly now: number; readonly clientId: string; readonly userId: number }
  | { readonly do: 'redeem'; readonly now: number; readonly code: string; readonly clientId: string }
  | { readonly do: 'refresh'; readonly now: number; readonly token: string; readonly clientId: string }
  | { readonly do: 'introspect'; readonly now: number; readonly token: string }
  | { readonly do: 'revoke'; readonly now: number; readonly id: string }
  /** Applies a recent revocation again, as token apps do when they connect to Redis. */
  | { readonly do: 'replay-revocation'; readonly now: number; readonly id: string };

export interface EngineRequest {
  readonly id: number;
  readonly command: EngineCommand;
  /** In seconds. */
  readonly retryWindow: number;
}

export interface EngineAnswer {
  /** Reason of a refusal, `granted`, `active`, `done`, `unavailable` if a store failed, or `threw …` otherwise. */
  readonly outcome: string;
  readonly generation?: number;
  readonly rotatedAt?: number;
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly code?: string;
  readonly id?: string;
}

export interface EngineSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly tokenKeys: string;
}

// Engine with separate connections, like a replica of the token app. Runs commands concurrently, on the parent's clock.

const REDIRECT_URI = 'https://app.example.com/callback';
const settings = JSON.parse(process.env['ENGINE_SETTINGS'] ?? '') as EngineSettings;
const lifetimes = DEFAULT_LIFETIMES;
// The timeouts are long, so that a slow machine does not fail the tests.
const limits = { poolSize: 4, connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 };
const dataSource = await databaseDataSource(settings.databaseUrl, limits).initialize();
const records = new GrantRecordStore(dataSource);
const redis = new Redis(settings.redisUrl);
const { tokenKeys } = settings;
// Shared, because its cache is allocated at its full size.
const givenUp = new GivenUpRequests();
const { store, issuer, codec } = grantEngine({ redis, records, tokenKeys, givenUp });

async function execute(command: EngineCommand, retryWindow: number): Promise<EngineAnswer> {
  const { engine, revocations } = grantEngine({
    redis,
    records,
    tokenKeys,
    givenUp,
    codec,
    lifetimes: { ...lifetimes, retryWindow },
    clock: () => command.now,
  });
  switch (command.do) {
    case 'allow':
      return allow(command);
    case 'redeem': {
      const { code, clientId } = command;
      const exchange = { clientId, redirectUri: REDIRECT_URI, challenge: null, jkt: null, resources: null };
      return shown(await engine.redeem(code, exchange));
    }
    case 'refresh':
      return shown(
        await engine.refresh(command.token, {
          clientId: command.clientId,
          jkt: null,
          scope: null,
          resources: null,
        }),
      );
    case 'introspect': {
      const result = await engine.introspect(command.token, null);
      if (result.outcome !== 'active') return { outcome: result.outcome };
      const { generation, rotatedAt } = result.grant;
      return { outcome: 'active', generation, rotatedAt };
    }
    case 'revoke':
      await revocations.revoke(command.id);
      return { outcome: 'done' };
    default:
      if ((await records.find(command.id))?.revokedAt) await revocations.apply([command.id]);
      return { outcome: 'done' };
  }
}

async function allow(command: EngineCommand & { do: 'allow' }): Promise<EngineAnswer> {
  const { code, grantId: id } = issuer.code(command.now);
  const grant = {
    clientId: command.clientId,
    userId: command.userId,
    scope: 'profile:read',
    resources: null,
  };
  const expiresAt = new Date(Date.now() + lifetimes.refreshToken * 1000);
  await records.create({ id, ...grant, requestedScope: grant.scope, expiresAt });
  const pending = { ...grant, externalId: null, redirectUri: REDIRECT_URI, challenge: null, jkt: null };
  await store.create(id, pending, command.now, 3600);
  return { outcome: 'done', code, id };
}

function shown(result: Granted | Refusal): EngineAnswer {
  if (result.outcome !== 'granted') return { outcome: result.outcome };
  const { generation, rotatedAt } = result.grant;
  const { accessToken, refreshToken } = result.pair;
  return { outcome: 'granted', generation, rotatedAt, accessToken, refreshToken };
}

process.on('message', ({ id, command, retryWindow }: EngineRequest) => {
  execute(command, retryWindow)
    .catch((error: unknown): EngineAnswer => {
      if (error instanceof DependencyUnavailableError) return { outcome: 'unavailable' };
      return { outcome: `threw ${String(error)}` };
    })
    .then((answer) => process.send?.({ id, answer }))
    .catch(() => process.exit(1));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
