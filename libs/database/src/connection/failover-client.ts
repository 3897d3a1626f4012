import { callbackify } from 'node:util';
import type { ClientConfig } from 'pg';
import { ImpatientClient } from './fail-fast-client.js';
import { isReadOnly, type WritableServer } from './primary-resolver.js';

type Done = (error: Error | null) => void;

/** The connection of a pool over several servers: each new one goes to the server that takes writes by then. */
export function roamingClient(
  servers: WritableServer,
): new (config?: string | ClientConfig) => ImpatientClient {
  return class RoamingClient extends ImpatientClient {
    override connect(): Promise<this>;
    override connect(done: Done): void;
    /** The pool calls it with a callback. */
    override connect(done?: Done): Promise<this> | void {
      return done ? callbackify(() => this.connectToPrimary())(done) : this.connectToPrimary();
    }

    private async connectToPrimary(): Promise<this> {
      const { host, port } = await servers.find();
      // The pool gave up on us meanwhile.
      if (this.connection.stream.destroyed) throw new Error('timeout: no server was found in time');
      Object.assign(this, { host, port });
      try {
        await super.connect();
        // What was remembered may have become a standby.
        if (await isReadOnly(this)) throw new Error('terminated: the server takes no writes any more');
        return this;
      } catch (error) {
        servers.forget();
        // Who reads this error learns nothing more from the end of the connection.
        this.on('error', () => undefined);
        this.connection.stream.destroy();
        throw error;
      }
    }
  };
}
