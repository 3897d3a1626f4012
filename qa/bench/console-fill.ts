import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { AUDIT_KINDS, type AuditType } from '#audit/event.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { createTrail } from '#test/support/isolate.js';
import type { Product } from './product.js';
import { hash } from 'node:crypto';
import { MAX_LIVE_GRANTS } from '#grants/grant.js';
import { FIELD, STATUS } from '#grants/grant-hash.js';

const DAYS = 30;
const MEGABYTES = 100_000;
/** Maximum number of events per message, as in the services. */
const EVENTS_PER_MESSAGE = 100;
/** Maximum number of messages that await confirmation. */
const WINDOW = 256;

export function clientId(n: number): string {
  const digits = 'abcdefghijklmnopqrstuvwxyz234567';
  let text = '';
  for (let rest = n; text.length < 24; rest = Math.floor(rest / 32)) text = (digits[rest % 32] ?? '') + text;
  return `sc_${text}`;
}

/** Contact of one application in a thousand. */
export const CONTACT = 'owner@rare.example';

/** Half of the applications are confidential; one in twenty is disabled. */
export async function fillClients({ fixture }: Product, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => clientId(n));
  await fixture.sql('BEGIN');
  // Skips the triggers, which are slow for many rows.
  await fixture.sql(`SET LOCAL session_replication_role = 'replica'`);
  await fixture.sql(
    `INSERT INTO clients (client_id, name, name_skeleton, type, redirect_uris, scopes, created_at, disabled_at, contacts)
     SELECT id, 'Application ' || n, 'application' || translate(n::text, '01', 'ol'), CASE n % 2 WHEN 0 THEN 'confidential' ELSE 'public' END,
            ARRAY['https://app' || n || '.example.com/callback'], '{profile:read}',
            now() - interval '400 days' + n * interval '1 second', CASE n % 20 WHEN 2 THEN now() END,
            CASE n % 1000 WHEN 3 THEN ARRAY['${CONTACT}'] ELSE ARRAY['owner' || n || '@example.com'] END
     FROM unnest($1::text[]) WITH ORDINALITY AS given (id, n)`,
    [ids],
  );
  await fixture.sql('COMMIT');
  await fixture.sql('VACUUM ANALYZE clients');
}

export interface Trail {
  readonly events: number;
  /** Number of clients. At least a tenth of the events belong to the first client. */
  readonly clients: number;
  readonly users: number;
}

/** Types of the messages, which are published in this order repeatedly. */
const MIX: readonly (readonly [type: AuditType, check?: string])[] = [
  ...Array.from({ length: 6 }, () => ['token.refreshed'] as const),
  ['token.issued'],
  ['token.issued'],
  ['consent.allowed'],
  ['request.refused', 'refresh_token_expired'],
];
const CHECKS = ['refresh_token_expired', 'code_expired', 'redirect_uri_mismatch', 'client_secret_mismatch'];

export async function fillTrail(product: Product, trail: Trail): Promise<void> {
  const { NATS_URL: natsUrl } = product.environment;
  await createTrail(natsUrl, { days: 3 * DAYS, megabytes: MEGABYTES, replicas: 1 });
  const nats = await connect(natsOptions(natsUrl, 'bench'));
  const client = jetstream(nats, { timeout: 60_000 });
  const ids = Array.from({ length: trail.clients }, (_, n) => clientId(n));
  const start = Date.now() - DAYS * 86_400_000;
  const waiting: Promise<unknown>[] = [];
  for (let first = 0; first < trail.events; first += EVENTS_PER_MESSAGE) {
    const message = first / EVENTS_PER_MESSAGE;
    const [type, refused] = MIX[message % MIX.length] ?? ['token.refreshed'];
    const check = refused === undefined ? undefined : CHECKS[(message % 40) % CHECKS.length];
    const time = start + (first / trail.events) * DAYS * 86_400_000;
    const head = headOf(type, check, time);
    const lines = Array.from({ length: Math.min(EVENTS_PER_MESSAGE, trail.events - first) }, (_, n) =>
      line(first + n, trail, ids, head),
    );
    waiting.push(client.publish(natsSubject(type, check), lines.join('\n')));
    if (waiting.length >= WINDOW) await waiting.shift();
    if (message % 5_000 === 0) process.stderr.write(`${first} events\n`);
  }
  await Promise.all(waiting);
  await nats.close();
}

/**
 * Adds refusals with the current time to a filled trail. The console finds the events around a refusal by their time
 * in the stream, which for all other events is the time of the fill.
 *
 * @returns the reference of a refusal
 */
export async function addRefusals({ environment }: Product, trail: Trail): Promise<string> {
  const nats = await connect(natsOptions(environment.NATS_URL, 'bench'));
  const ids = Array.from({ length: trail.clients }, (_, n) => clientId(n));
  const [check = ''] = CHECKS;
  const head = headOf('request.refused', check, Date.now());
  const lines = Array.from({ length: EVENTS_PER_MESSAGE }, (_, n) =>
    line(trail.events + n, trail, ids, head),
  );
  await jetstream(nats).publish(natsSubject('request.refused', check), lines.join('\n'));
  await nats.close();
  return reference(trail.events + 1);
}

function serviceOf(type: AuditType): string {
  return type === 'consent.allowed' ? 'authorize' : 'token';
}

function natsSubject(type: AuditType, check: string | undefined): string {
  const { prefix } = check === undefined ? AUDIT_KINDS.activity : AUDIT_KINDS.refusals;
  return `${prefix}${serviceOf(type)}.${type}`;
}

/** Returns the JSON of the fields that all events of a message share, without the closing brace. */
function headOf(type: AuditType, check: string | undefined, time: number): string {
  const event = {
    version: 1,
    time: new Date(time).toISOString(),
    type,
    service: serviceOf(type),
    request: { method: 'POST', path: '/api/auth/oauth/token' },
    ...(check && { check, error: 'invalid_grant', status: 400 }),
  };
  return JSON.stringify(event).slice(0, -1);
}

function line(n: number, { users }: Trail, ids: readonly string[], head: string): string {
  // The multipliers are primes, so that each chunk of the index contains many clients and users.
  const [client, user] = [n % 10 === 0 ? 0 : (n * 7919) % ids.length, (n * 104_729) % users];
  return `${head},"id":"bench-${n.toString(36)}","reference":"${reference(n)}","client_id":"${ids[client] ?? ''}","user_id":${FIRST_USER + user}}`;
}

export function reference(n: number): string {
  return `bench${n.toString(36).padStart(7, '0')}`;
}

const CHUNK = 50_000;
const PIPELINE = 5_000;
const SCOPE = 'profile:read';
const LIFETIME_SECONDS = 90 * 86_400;
/** First user id of the created grants, above the ids of users who log in. */
export const FIRST_USER = 1_000_000;

/**
 * Creates users with one live grant each, without Redis, and as if the grants were in use, so that no token app looks
 * for them there.
 */
export async function recordGrants(product: Product, clientId: string, to: number): Promise<void> {
  for (const [first, last] of chunks(1, to)) {
    await insertUsersWithGrants(product, clientId, first, last);
    process.stderr.write(`${last} grants\n`);
  }
  await product.fixture.sql('UPDATE grants SET last_used_on = current_date');
  await settle(product);
}

function* chunks(from: number, to: number): Generator<readonly [first: number, last: number]> {
  for (let first = from; first <= to; first += CHUNK) yield [first, Math.min(to, first + CHUNK - 1)];
}

async function insertUsersWithGrants(
  product: Product,
  clientId: string,
  first: number,
  last: number,
): Promise<void> {
  await product.fixture.sql(
    `INSERT INTO users (id, username, email, name, password_hash)
     SELECT ${FIRST_USER} + n, 'filled' || n, 'filled' || n || '@example.com', 'Bench', '$argon2id$nobody'
     FROM generate_series($1::integer, $2::integer) n`,
    [first, last],
  );
  await insertGrants(product, clientId, { first, last, userId: `${FIRST_USER} + n` });
}

/** Creates grants of one user. Revokes all of them except the maximum number of live grants. */
export async function fillUser(
  product: Product,
  clientId: string,
  userId: number,
  grants: number,
): Promise<void> {
  // The numbers are negative, because `recordGrants` uses positive numbers.
  for (let first = -grants; first < 0; first += CHUNK) {
    const last = Math.min(-1, first + CHUNK - 1);
    await insertGrants(product, clientId, { first, last, userId: String(userId) });
    await storeGrants(product, clientId, { first, last, userOf: () => userId });
  }
  await product.fixture.sql(
    `UPDATE grants SET revoked_at = now() - interval '1 day', revocation_applied_at = now() - interval '1 day'
     WHERE id IN (SELECT id FROM grants WHERE user_id = $1 AND client_id = $2 AND revoked_at IS NULL
                  ORDER BY created_at, id OFFSET $3)`,
    [userId, clientId, MAX_LIVE_GRANTS],
  );
  await settle(product);
}

/** @param numbers range of grants; `userId` is an SQL expression that may use the grant number `n` */
async function insertGrants(
  { fixture }: Product,
  clientId: string,
  { first, last, userId }: { readonly first: number; readonly last: number; readonly userId: string },
): Promise<void> {
  await fixture.sql('BEGIN');
  // Skips triggers and foreign keys, which are slow for many rows.
  await fixture.sql("SET LOCAL session_replication_role = 'replica'");
  await fixture.sql(
    `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, created_at, lifetime, expires_at)
     SELECT rtrim(translate(encode(sha256(n::text::bytea), 'base64'), '+/', '-_'), '='), ${userId}, $1, $2, $2,
            now() - interval '2 days' + n * interval '1 microsecond', $3 * interval '1 second', now() + $3 * interval '1 second'
     FROM generate_series($4::integer, $5::integer) n`,
    [clientId, SCOPE, LIFETIME_SECONDS, first, last],
  );
  await fixture.sql('COMMIT');
}

async function storeGrants(
  { fixture: { redis } }: Product,
  clientId: string,
  numbers: { readonly first: number; readonly last: number; readonly userOf: (n: number) => number },
): Promise<void> {
  const common = { [FIELD.status]: STATUS.active, [FIELD.generation]: 1, [FIELD.client]: clientId };
  for (let start = numbers.first; start <= numbers.last; start += PIPELINE) {
    const pipeline = redis.pipeline();
    for (let n = start; n < start + PIPELINE && n <= numbers.last; n++) {
      const key = `grant:${hash('sha256', String(n), 'base64url')}`;
      const own = { [FIELD.user]: numbers.userOf(n), [FIELD.scope]: SCOPE, [FIELD.rotatedAt]: Date.now() };
      pipeline.hset(key, { ...common, ...own });
      pipeline.expire(key, LIFETIME_SECONDS);
    }
    await pipeline.exec();
  }
}

/** Makes the servers finish their background work, which would distort a measurement. */
async function settle({ fixture }: Product): Promise<void> {
  await fixture.sql('VACUUM ANALYZE grants, users');
  await fixture.sql('CHECKPOINT');
  while (/aof_rewrite_(in_progress|scheduled):1/.test(await fixture.redis.info('persistence')))
    await new Promise((resolve) => setTimeout(resolve, 200));
}
