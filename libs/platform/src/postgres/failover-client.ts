import { callbackify } from 'node:util';
import { Client } from 'pg';
import { CANNOT_CONNECT_NOW, isTransient, reasonOf } from './postgres-errors.js';
import { FailFastClient } from './service-data-source.js';

interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Thrown if no server accepts writes, as during a failover. */
class NoPrimaryError extends Error {
  readonly code = CANNOT_CONNECT_NOW;

  constructor(causes: readonly unknown[]) {
    super(`no server accepts writes: ${[...new Set(causes.map(reasonOf))].join('; ')}`);
    this.name = 'NoPrimaryError';
  }
}

/**
 * Finds the primary among several servers (libpq's `target_session_attrs=read-write`, which the driver lacks). Probes
 * all servers concurrently, so that an unresponsive server causes no delay.
 */
export class PrimaryResolver {
  private primary: Promise<ServerAddress> | undefined;

  /** @param timeoutMs time limit for the response of a server */
  constructor(
    private readonly urls: readonly string[],
    private readonly timeoutMs: number,
  ) {}

  /** @throws NoPrimaryError, or a permanent error such as a wrong password */
  async find(): Promise<ServerAddress> {
    this.primary ??= this.probeAll();
    const pending = this.primary;
    try {
      return await pending;
    } catch (error) {
      this.invalidate(pending);
      throw error;
    }
  }

  /** Discards the cached address. Call this after a connection to the address has failed. */
  forget(): void {
    this.invalidate(this.primary);
  }

  private invalidate(answer: Promise<ServerAddress> | undefined): void {
    if (this.primary === answer) this.primary = undefined;
  }

  private async probeAll(): Promise<ServerAddress> {
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

export function failoverClient(primary: PrimaryResolver): typeof FailFastClient {
  return class FailoverClient extends FailFastClient {
    override connect(): Promise<this>;
    override connect(done: Done): void;
    /** Supports the callback that the pool passes. */
    override connect(done?: Done): Promise<this> | void {
      return done ? callbackify(() => this.connectToPrimary())(done) : this.connectToPrimary();
    }

    private async connectToPrimary(): Promise<this> {
      const { host, port } = await primary.find();
      // The pool has already given up on this connection.
      if (this.connection.stream.destroyed) throw new Error('timeout: no server was found in time');
      Object.assign(this, { host, port });
      try {
        await super.connect();
        // The cached server may have become a standby.
        if (await isReadOnly(this)) throw new Error('terminated: the server no longer accepts writes');
        return this;
      } catch (error) {
        primary.forget();
        // Destroying the connection emits the error that is thrown here.
        this.on('error', () => undefined);
        this.connection.stream.destroy();
        throw error;
      }
    }
  };
}

/** Returns true for a standby and for a read-only server. */
async function isReadOnly(client: Pick<Client, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  return rows[0]?.transaction_read_only !== 'off';
}
