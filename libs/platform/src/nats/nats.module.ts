import { type DynamicModule, Logger, Module, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readiness } from '../health/readiness.js';
import { NatsConnection, type NatsOptions } from './nats.connection.js';

const RETRY_MS = 1_000;

/** Provides the process's connection to NATS. A process starts without NATS and is not ready until NATS answers. */
@Module({})
export class NatsModule implements OnApplicationShutdown {
  constructor(
    private readonly connection: NatsConnection,
    // Absent in services of other teams, which have a readiness check of their own.
    @Optional() readiness?: Readiness,
  ) {
    readiness?.register('nats', () => connection.ping());
  }

  static forRoot(options: NatsOptions): DynamicModule {
    const useFactory = () => {
      const connection = new NatsConnection(options);
      void keepOpening(connection);
      return connection;
    };
    const provider = { provide: NatsConnection, useFactory };
    return { module: NatsModule, providers: [provider], exports: [provider] };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}

/** The client retries by itself, except after a refused login, which the operator may repair while this process runs. */
async function keepOpening(connection: NatsConnection): Promise<void> {
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
