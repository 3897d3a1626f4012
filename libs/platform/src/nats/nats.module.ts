import { type DynamicModule, Module, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { Readiness } from '../health/readiness.js';
import { NatsConnection, type NatsOptions } from './nats.connection.js';

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
      void connection.open();
      return connection;
    };
    const provider = { provide: NatsConnection, useFactory };
    return { module: NatsModule, providers: [provider], exports: [provider] };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}
