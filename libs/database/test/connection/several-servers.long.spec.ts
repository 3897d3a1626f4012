import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import { connect, databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { withDatabase } from '#test/support/admin-client.js';
import { PATIENT_MS } from '#test/support/patience.js';
import { PostgresPair } from '#test/topology/postgres-pair.js';
import { until } from '#test/support/until.js';

let servers: PostgresPair;

beforeAll(async () => {
  servers = await PostgresPair.start();
});

afterAll(() => servers.stop());

/** Servers that are asked have half of the time for a connection: a busy machine is given the longest. */
const { connectTimeoutMs } = requestLimits(PATIENT_MS);
const LIMITS = { poolSize: 3, connectTimeoutMs, statementTimeoutMs: 3_000 };
const open = (url: string) => connect(databaseDataSource(url, LIMITS), url, 0);

describe('a database with several servers', () => {
  it('refuses a wrong password at once, and names the servers and not the password', async () => {
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

  it('is written at its primary, then at the promoted standby, even if the primary is silent', async () => {
    await withDatabase(servers.primaryUrl, (primary) =>
      primary.query('CREATE SCHEMA oauth CREATE TABLE said (what text)'),
    );
    const source = await open(servers.url);
    const say = (what: string) => source.query('INSERT INTO said VALUES ($1)', [what]);
    try {
      // Three connections. What is late on a busy machine is said again.
      await until('the primary is written to', 60_000, async () => {
        await Promise.all([1, 2, 3].map((n) => say(`before ${n}`)));
        return true;
      });
      await servers.silencePrimary();
      await servers.promote();
      // Connections that nobody closes end with the time-out of their query.
      await Promise.allSettled([1, 2, 3].map(() => source.query('SELECT 1')));
      await until('the new primary is found', 60_000, async () => {
        await say('after');
        return true;
      });
      // One that was late to be answered was said again.
      const count = 'SELECT count(DISTINCT what)::int AS count FROM oauth.said';
      const { rows } = await withDatabase(servers.standbyUrl, (primary) => primary.query(count));
      expect(rows).toEqual([{ count: 4 }]);
    } finally {
      await servers.wakePrimary();
      await source.destroy();
    }
  });
});
