import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryRunner, ReplicationMode } from 'typeorm';
import { ServiceDataSource } from '#platform/postgres/service-data-source.js';

/** Hexadecimal handle of a grant to the portal. */
const developer = new AsyncLocalStorage<string>();

/**
 * Runs work of the portal for the user of a grant. PostgreSQL hides everything that the user does not own from the
 * statements of the work, and everything from statements outside of any work.
 * @param handle of the user's grant to the portal (`handleOf` an access token)
 */
export function asDeveloper<Result>(handle: Buffer, work: () => Result): Result {
  return developer.run(handle.toString('hex'), work);
}

const IDENTIFY = `SELECT set_config('oauth.developer', $1, true)`;

/**
 * Identifies the user in each transaction of the portal, because a connection pooler may switch the server connection
 * after a transaction (docs/adr/0055-rights-of-the-portal.md). A statement outside of a transaction gets a transaction.
 */
export class DeveloperDataSource extends ServiceDataSource {
  override createQueryRunner(mode?: ReplicationMode): QueryRunner {
    const runner = super.createQueryRunner(mode);
    const query: QueryRunner['query'] = runner.query.bind(runner);
    const start = runner.startTransaction.bind(runner);
    runner.startTransaction = async (isolation) => {
      const isOutermost = !runner.isTransactionActive;
      await start(isolation);
      const handle = developer.getStore();
      if (isOutermost && handle !== undefined) await query(IDENTIFY, [handle]);
    };
    runner.query = (async (...statement: Parameters<QueryRunner['query']>) => {
      if (runner.isTransactionActive || developer.getStore() === undefined) return query(...statement);
      try {
        await runner.startTransaction();
        const result: unknown = await query(...statement);
        await runner.commitTransaction();
        return result;
      } catch (error) {
        if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
        throw error;
      }
    }) as QueryRunner['query'];
    return runner;
  }
}
