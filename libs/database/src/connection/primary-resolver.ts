import { Client } from 'pg';
import { mayPass } from './connect.js';

/** Where one server listens. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** No server takes writes just now: a fail-over is under way. SQLSTATE cannot_connect_now. */
class NoWritableServerError extends Error {
  readonly code = '57P03';

  constructor(causes: readonly unknown[]) {
    const reasons = causes.map((cause) => {
      const { message, code } = cause as { message?: string; code?: string };
      return message || code || 'no connection';
    });
    super(`no server takes writes: ${[...new Set(reasons)].join('; ')}`);
    this.name = 'NoWritableServerError';
  }
}

/**
 * Which of several servers takes writes (libpq's `target_session_attrs=read-write`, which the driver does not know). All
 * are asked at once, so that a machine that is silent delays nothing; the answer is remembered until it proves wrong.
 */
export class WritableServer {
  private found: Promise<ServerAddress> | undefined;

  /**
   * @param urls one for each server
   * @param timeoutMs for how long a server may think about it
   */
  constructor(
    private readonly urls: readonly string[],
    private readonly timeoutMs: number,
  ) {}

  /** @throws a failure that does not pass, such as a wrong password, else one that may (57P03) */
  async find(): Promise<ServerAddress> {
    this.found ??= this.ask();
    const asked = this.found;
    try {
      return await asked;
    } catch (error) {
      this.discard(asked);
      throw error;
    }
  }

  /** To be called when a connection to what was found could not be used. */
  forget(): void {
    this.discard(this.found);
  }

  private discard(answer: Promise<ServerAddress> | undefined): void {
    if (this.found === answer) this.found = undefined;
  }

  private async ask(): Promise<ServerAddress> {
    try {
      return await Promise.any(this.urls.map((url) => this.probe(url)));
    } catch (error) {
      const { errors } = error as AggregateError;
      throw errors.find((cause) => !mayPass(cause)) ?? new NoWritableServerError(errors);
    }
  }

  private async probe(url: string): Promise<ServerAddress> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: this.timeoutMs,
      query_timeout: this.timeoutMs,
      application_name: 'scheduling-oauth',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      if (await isReadOnly(client))
        throw new NoWritableServerError([new Error(`${client.host} is a standby`)]);
      return { host: client.host, port: client.port };
    } finally {
      client.end().catch(() => undefined);
    }
  }
}

/** Whether a connection leads to a standby, or to a server that is closed for writes. */
export async function isReadOnly(client: Pick<Client, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  return rows[0]?.transaction_read_only !== 'off';
}
