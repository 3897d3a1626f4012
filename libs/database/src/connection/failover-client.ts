import { callbackify } from 'node:util';
import { Client, type ClientConfig } from 'pg';
import { CANNOT_CONNECT_NOW, isTransient, reasonOf } from './errors.js';
import { FailFastClient } from './fail-fast-client.js';

interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** No server accepts writes: a fail-over is under way. */
class NoPrimaryError extends Error {
  readonly code = CANNOT_CONNECT_NOW;

  constructor(causes: readonly unknown[]) {
    super(`no server takes writes: ${[...new Set(causes.map(reasonOf))].join('; ')}`);
    this.name = 'NoPrimaryError';
  }
}

/**
 * Finds which of several servers is the primary (libpq's `target_session_attrs=read-write`, which the driver does not
 * support). Asks all at once, so that a silent machine delays nothing, and remembers the answer until it proves wrong.
 */
export class PrimaryResolver {
  private found: Promise<ServerAddress> | undefined;

  /**
   * @param urls one for each server
   * @param timeoutMs how long a server may take to answer, in milliseconds
   */
  constructor(
    private readonly urls: readonly string[],
    private readonly timeoutMs: number,
  ) {}

  /** @throws an error that is not transient, such as a wrong password, else NoPrimaryError */
  async find(): Promise<ServerAddress> {
    this.found ??= this.findAnew();
    const asked = this.found;
    try {
      return await asked;
    } catch (error) {
      this.discard(asked);
      throw error;
    }
  }

  /** Call this when the address that was found could not be used. */
  forget(): void {
    this.discard(this.found);
  }

  private discard(answer: Promise<ServerAddress> | undefined): void {
    if (this.found === answer) this.found = undefined;
  }

  private async findAnew(): Promise<ServerAddress> {
    try {
      return await Promise.any(this.urls.map((url) => this.probe(url)));
    } catch (error) {
      const { errors } = error as AggregateError;
      throw errors.find((cause) => !isTransient(cause)) ?? new NoPrimaryError(errors);
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
      if (await isReadOnly(client)) throw new NoPrimaryError([new Error(`${client.host} is a standby`)]);
      return { host: client.host, port: client.port };
    } finally {
      client.end().catch(() => undefined);
    }
  }
}

type Done = (error: Error | null) => void;

/** The client class of a pool over several servers: every new connection goes to the current primary. */
export function failoverClient(
  primary: PrimaryResolver,
): new (config?: string | ClientConfig) => FailFastClient {
  return class FailoverClient extends FailFastClient {
    override connect(): Promise<this>;
    override connect(done: Done): void;
    /** The pool passes a callback. */
    override connect(done?: Done): Promise<this> | void {
      return done ? callbackify(() => this.connectToPrimary())(done) : this.connectToPrimary();
    }

    private async connectToPrimary(): Promise<this> {
      const { host, port } = await primary.find();
      // The pool has given up on this connection.
      if (this.connection.stream.destroyed) throw new Error('timeout: no server was found in time');
      Object.assign(this, { host, port });
      try {
        await super.connect();
        // The remembered server may have become a standby.
        if (await isReadOnly(this)) throw new Error('terminated: the server takes no writes any more');
        return this;
      } catch (error) {
        primary.forget();
        // The end of the connection repeats the error that is thrown here.
        this.on('error', () => undefined);
        this.connection.stream.destroy();
        throw error;
      }
    }
  };
}

/** Whether a connection leads to a standby, or to a server that is closed for writes. */
async function isReadOnly(client: Pick<Client, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  return rows[0]?.transaction_read_only !== 'off';
}
