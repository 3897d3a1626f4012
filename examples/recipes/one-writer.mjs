// The row is locked from reading the old tokens to storing the new ones, so that concurrent workers send a single refresh.
// Encrypt `tokens` with a key that is not in the database. `recipe.mjs` is a recipe of a library.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ended, refresh } from './recipe.mjs';

// CREATE TABLE connections (user_id bigint PRIMARY KEY, tokens jsonb NOT NULL, expires_at timestamptz NOT NULL)
const database = new pg.Pool({ connectionString: process.env.DATABASE_URL });

/** An access token for a user; undefined if the user has to connect again. */
export async function accessToken(userId) {
  const connection = await database.connect();
  try {
    await connection.query('BEGIN');
    const row = `SELECT tokens, expires_at < now() + interval '1 minute' AS expired
      FROM connections WHERE user_id = $1 FOR UPDATE`;
    const [stored] = (await connection.query(row, [userId])).rows;
    if (!stored || !stored.expired) return stored?.tokens.access_token;
    const tokens = await renewed(stored.tokens);
    if (tokens) {
      const update = `UPDATE connections SET tokens = $2, expires_at = now() + make_interval(secs => $3) WHERE user_id = $1`;
      await connection.query(update, [userId, tokens, tokens.expires_in]);
    } else await connection.query('DELETE FROM connections WHERE user_id = $1', [userId]);
    return tokens?.access_token;
  } finally {
    // After a failed query, COMMIT rolls back.
    await connection.query('COMMIT').finally(() => connection.release());
  }
}

/** The new tokens; undefined if the access has ended. Four attempts of 5 s and their pauses take less than 30 s. */
async function renewed(tokens) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await Promise.race([refresh(tokens), timeout()]);
    } catch (error) {
      if (ended(error)) return undefined;
      if (attempt === 4) throw error;
      await sleep(1000 * attempt);
    }
  }
}

async function timeout() {
  await sleep(5000, undefined, { ref: false });
  throw new Error('no response');
}
