import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { AUDIT_KINDS, type AuditType } from '#audit/event.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { createTrail } from '#test/support/isolate.js';
import { FIRST_USER } from './growth-fill.js';
import type { Product } from './product.js';

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
  await fixture.sql(
    `INSERT INTO clients (client_id, name, type, redirect_uris, scopes, created_at, disabled_at, contacts)
     SELECT id, 'Application ' || n, CASE n % 2 WHEN 0 THEN 'confidential' ELSE 'public' END,
            ARRAY['https://app' || n || '.example.com/callback'], '{profile:read}',
            now() - interval '400 days' + n * interval '1 second', CASE n % 20 WHEN 2 THEN now() END,
            CASE n % 1000 WHEN 3 THEN ARRAY['${CONTACT}'] ELSE ARRAY['owner' || n || '@example.com'] END
     FROM unnest($1::text[]) WITH ORDINALITY AS given (id, n)`,
    [ids],
  );
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
