import { type DynamicModule, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { TokenServiceConnection } from './nats.connection.js';

export interface ConnectionOptions {
  /** `nats://[user:password@]host:port[,nats://…]`. */
  readonly natsUrl: string;
  /** The connection's name in NATS's own monitoring. */
  readonly name: string;
  /** In which time the token service must answer a request, in milliseconds; 2000 when absent. */
  readonly timeoutMs?: number;
}

const RETRY_MS = 1_000;

/** Offers the process's connection to NATS. A process starts without NATS and is not ready until it is there. */
@Module({})
export class ConnectionModule implements OnApplicationShutdown {
  constructor(private readonly connection: TokenServiceConnection) {}

  static forRoot({ natsUrl, name, timeoutMs }: ConnectionOptions): DynamicModule {
    const useFactory = () => {
      const connection = new TokenServiceConnection(natsUrl, name, timeoutMs);
      void keepOpening(connection);
      return connection;
    };
    const provider = { provide: TokenServiceConnection, useFactory };
    return { module: ConnectionModule, providers: [provider], exports: [provider] };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}

/** The client itself retries what time mends; a refused login is not among it, but may be mended from outside. */
async function keepOpening(connection: TokenServiceConnection): Promise<void> {
  const logger = new Logger('NATS');
  for (;;) {
    try {
      return await connection.open();
    } catch (error) {
      logger.error(`NATS: ${error instanceof Error ? error.message : String(error)}`);
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
}
