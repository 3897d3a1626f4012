import { hash } from 'node:crypto';
import { MAX_LIVE_GRANTS } from '#grants/grant.js';
import { FIELD, STATUS } from '#grants/grant-hash.js';
import type { Product } from './product.js';

const CHUNK = 50_000;
const PIPELINE = 5_000;
const SCOPE = 'profile:read';
const LIFETIME_SECONDS = 90 * 86_400;
/** First user id of the created grants, above the ids of users who log in. */
export const FIRST_USER = 1_000_000;

/** Creates live grants of one client, each for a different user, numbered from `from` to `to` inclusive. */
export async function fillGrants(
  product: Product,
  clientId: string,
  from: number,
  to: number,
): Promise<void> {
  for (const [first, last] of chunks(from, to)) {
    await insertUsersWithGrants(product, clientId, first, last);
    await storeGrants(product, clientId, { first, last, userOf: (n) => FIRST_USER + n });
    process.stderr.write(`${last} grants\n`);
  }
  await settle(product);
}

/** Like `fillGrants`, but without Redis, and as if the grants were in use, so that no token app looks for them there. */
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
  // The numbers are negative, because `fillGrants` uses positive numbers.
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
