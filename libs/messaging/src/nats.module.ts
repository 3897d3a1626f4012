import {
  type DynamicModule,
  type FactoryProvider,
  Module,
  type ModuleMetadata,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { Readiness } from '#platform/health/readiness.js';
import { statusSubject } from './service-status.js';
import { StatusReport } from '#platform/status/status-report.js';
import { NatsConnection, type NatsOptions } from './nats.connection.js';

type NatsOptionsFactory = Pick<ModuleMetadata, 'imports'> &
  Pick<FactoryProvider<NatsOptions>, 'inject' | 'useFactory'>;

/** Provides the process's NATS connection. The process starts without NATS, but is not ready until NATS responds. */
@Module({})
export class NatsModule implements OnApplicationShutdown {
  constructor(
    private readonly connection: NatsConnection,
    // Absent in other teams' services, which have their own health checks.
    @Optional() readiness?: Readiness,
    @Optional() status?: StatusReport,
  ) {
    readiness?.register('nats', () => connection.ping());
    if (status?.service) connection.respond(statusSubject(status.service), () => status.read());
  }

  static forRoot(options: NatsOptions): DynamicModule {
    return NatsModule.forRootAsync({ useFactory: () => options });
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: NatsOptionsFactory): DynamicModule {
    const provider: FactoryProvider<NatsConnection> = {
      provide: NatsConnection,
      inject,
      useFactory: async (...dependencies: unknown[]) => {
        const connection = new NatsConnection(await useFactory(...dependencies));
        void connection.open();
        return connection;
      },
    };
    return { module: NatsModule, imports, providers: [provider], exports: [provider] };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}
