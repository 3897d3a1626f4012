import { DependencyUnavailableError } from '#platform/errors.js';
import { connect, databaseDataSource, requestLimits } from '#database/data-source.js';
import { withDatabase } from '#test/support/test-database.js';
import { PATIENT_MS } from '#test/support/app-settings.js';
import { PostgresPair } from '#test/topology/postgres-pair.js';
import { until } from '#test/support/until.js';

let servers: PostgresPair;

beforeAll(async () => {
  servers = await PostgresPair.start();
});

afterAll(() => servers.stop());

/** The longest permitted timeout, because the probe gets only half of this time, and the machine may be busy. */
const { connectTimeoutMs } = requestLimits(PATIENT_MS);
const LIMITS = { poolSize: 3, connectTimeoutMs, statementTimeoutMs: 3_000 };
const open = (url: string) => connect(databaseDataSource(url, LIMITS), url, 0);

describe('a database with several servers', () => {
  it('rejects a wrong password immediately, naming the servers but not the password', async () => {
    const url = servers.url.replace(/:[^:@/]+@/, ':not-it@');
    const error = await open(url).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(DependencyUnavailableError);
    expect(String(error)).toMatch(
      /127\.0\.0\.1:\d+,127\.0\.0\.1:\d+\/postgres.*password authentication failed/,
    );
    expect(String(error)).not.toContain('not-it');
  });

  it('is unavailable while only a standby is up', async () => {
    const standbys = servers.standbyUrl.replace(/@([^/]+)\//, '@$1,$1/');
    await expect(open(standbys)).rejects.toThrow(/no server accepts writes: .* is a standby/);
  });

  it('accepts writes on the primary, then on the promoted standby, even if the primary does not respond', async () => {
    await withDatabase(servers.primaryUrl, (primary) =>
      primary.query('CREATE SCHEMA oauth CREATE TABLE notes (text text)'),
    );
    const source = await open(servers.url);
    const insert = (text: string) => source.query('INSERT INTO notes VALUES ($1)', [text]);
    try {
      // Opens three connections. Retried, because a busy machine may exceed the timeout.
      await until('the primary is written to', 60_000, async () => {
        await Promise.all([1, 2, 3].map((n) => insert(`before ${n}`)));
        return true;
      });
      await servers.silencePrimary();
      await servers.promote();
      // Queries to the unresponsive server time out, which closes the connections.
      await Promise.allSettled([1, 2, 3].map(() => source.query('SELECT 1')));
      await until('the new primary is found', 60_000, async () => {
        await insert('after');
        return true;
      });
      // Counts distinct texts, because an insert that timed out was retried.
      const count = 'SELECT count(DISTINCT text)::int AS count FROM oauth.notes';
      const { rows } = await withDatabase(servers.standbyUrl, (primary) => primary.query(count));
      expect(rows).toEqual([{ count: 4 }]);
    } finally {
      await servers.wakePrimary();
      await source.destroy();
    }
  });
});
