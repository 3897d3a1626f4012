import { Client, type ClientConfig } from 'pg';

/**
 * A connection to PostgreSQL that ends when a query got no answer in `query_timeout`. The driver only gives up on the
 * query and hands the connection back to the pool, where every later query would wait behind it: those to a machine
 * that died, which closes nothing, for a quarter of an hour.
 */
export class ImpatientClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...parameters: unknown[]) => unknown;
    this.query = ((...parameters: unknown[]) => {
      const result = query(...parameters);
      if (result instanceof Promise) result.catch((error: unknown) => this.#endIfSilent(error));
      return result;
    }) as Client['query'];
  }

  #endIfSilent(error: unknown): void {
    // The driver gives this error no code.
    if (error instanceof Error && error.message === 'Query read timeout')
      this.connection.stream.destroy(error);
  }
}
