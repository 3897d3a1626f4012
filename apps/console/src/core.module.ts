import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { ClientOperationsModule } from '#clients/operations/client-operations.module.js';
import { UserOperationsModule } from '#users/operations/user-operations.module.js';
import { GrantOperationsModule } from '#grants/operations/grant-operations.module.js';
import { KeyOperationsModule } from '#keys/operations/key-operations.module.js';
import { AuditOperationsModule } from '#audit/operations/audit-operations.module.js';
import { DiagnosisModule } from '#diagnosis/diagnosis.module.js';
import { OperationsModule } from '#operations/operations.module.js';
import { OperatorNats } from '#operations/operator-nats.js';
import { AuditModule } from '#audit/audit.module.js';
import { DatabaseModule } from '#database/database.module.js';
import { IntrospectionModule } from '#introspection/index.js';
import { scopeFile } from '#oauth/scope-file.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { readConfigurationFile } from '#platform/configuration/configuration-file.js';
import { ConfigurationFilesModule } from '#platform/configuration/configuration-files.module.js';
import { RedisModule } from '#platform/redis/redis.module.js';
import { Brand, readBrand } from '#ui/brand/brand.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { ConsoleNats } from './console-nats.js';
import { ConsoleConfiguration } from './console.configuration.js';
import { CONSOLE_RULES } from './ui/console-stylesheet.js';

@Module({})
export class CoreModule {
  static forRoot(configuration: ConsoleConfiguration, clock: Clock): DynamicModule {
    const { dependencyTimeoutMs: timeoutMs } = configuration;
    const scopes = readConfigurationFile(scopeFile(configuration, true));
    const database = DatabaseModule.forRoot({
      databaseUrl: configuration.DATABASE_URL,
      schema: configuration.DATABASE_SCHEMA,
      timeoutMs,
    });
    const services = [
      database,
      OperationsModule.forRoot({ settings: configuration, scopes: () => scopes }, [database], {
        provide: OperatorNats,
        useClass: ConsoleNats,
      }),
      ClientOperationsModule,
      UserOperationsModule,
      GrantOperationsModule,
      KeyOperationsModule,
      AuditOperationsModule,
      DiagnosisModule,
      RedisModule.forRoot({ redisUrl: configuration.REDIS_URL, timeoutMs }),
    ];
    const providers: Provider[] = [
      { provide: ConsoleConfiguration, useValue: configuration },
      { provide: Brand, useValue: readBrand(configuration, CONSOLE_RULES) },
      { provide: CLOCK, useValue: clock },
      { provide: ScopeCatalogue, useValue: scopes.value },
    ];
    return {
      module: CoreModule,
      global: true,
      imports: [
        ...services,
        ConfigurationFilesModule.forRoot([scopes]),
        AuditModule.forRoot({
          service: 'operator',
          natsUrl: configuration.auditUrl,
          clientAddress: configuration.AUDIT_CLIENT_ADDRESS,
        }),
        IntrospectionModule.forRoot({
          natsUrl: configuration.NATS_URL,
          name: 'console',
          timeoutMs,
          resourceUrl: configuration.CONSOLE_URL,
          clockSkew: configuration.CLOCK_SKEW,
        }),
      ],
      providers,
      exports: [...services, ...providers],
    };
  }
}
