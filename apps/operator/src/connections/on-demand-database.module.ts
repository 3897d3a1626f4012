import {
  type DynamicModule,
  Inject,
  type INestApplicationContext,
  Injectable,
  Module,
  type OnApplicationShutdown,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DatabaseModule, EXPORTS } from '#database/database.module.js';
import type { DatabaseSettings } from '../settings/settings.js';

/** Nothing retries a failed command, so it waits for a failover, but only as long as an operator would wait. */
const LIMITS = { timeoutMs: 5_000, poolSize: 2, retryForMs: 2_000 };

const SETTINGS = Symbol('DatabaseSettings');

type Store = InstanceType<(typeof EXPORTS)[number]>;

/** Names of public members that are not methods returning a promise. */
type OtherMembers<S> = S extends unknown
  ? { [Name in keyof S]: S[Name] extends (...values: never[]) => Promise<unknown> ? never : Name }[keyof S]
  : never;

/** Members that no command uses and `onDemand` cannot delegate. The compiler requires every such member here. */
const NOT_DELEGATED: Readonly<Record<OtherMembers<Store>, true>> = {
  revocationsToApply: true,
  olderThan: true,
};

@Injectable()
class OnDemandDatabase implements OnApplicationShutdown {
  private opened: Promise<INestApplicationContext> | undefined;

  constructor(@Inject(SETTINGS) private readonly settings: () => DatabaseSettings) {}

  async store<Store>(store: Type<Store>): Promise<Store> {
    this.opened ??= this.open();
    return (await this.opened).get(store);
  }

  async onApplicationShutdown(): Promise<void> {
    // The operation that needed the connection has already reported that connecting failed.
    await this.opened?.then(
      (database) => database.close(),
      () => undefined,
    );
  }

  private async open(): Promise<INestApplicationContext> {
    const { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: schema } = this.settings();
    const module = DatabaseModule.forRoot({ ...LIMITS, process: 'operator', databaseUrl, schema });
    return NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  }
}

/** Provides stores that connect to PostgreSQL when one of their methods is first called. */
@Module({})
export class OnDemandDatabaseModule {
  static forRoot(settings: () => DatabaseSettings): DynamicModule {
    const stores = EXPORTS.map((store: Type) => ({
      provide: store,
      inject: [OnDemandDatabase],
      useFactory: (database: OnDemandDatabase) => onDemand(store, database),
    }));
    return {
      module: OnDemandDatabaseModule,
      providers: [{ provide: SETTINGS, useValue: settings }, OnDemandDatabase, ...stores],
      exports: EXPORTS,
    };
  }
}

/** Delegates to a store after connecting, which is possible only for methods that return promises. */
function onDemand(store: Type<object>, database: OnDemandDatabase): object {
  const names = Object.getOwnPropertyNames(store.prototype).filter(
    (name) => name !== 'constructor' && !Object.hasOwn(NOT_DELEGATED, name),
  );
  const callOf =
    (name: string) =>
    async (...values: unknown[]): Promise<unknown> => {
      const opened = (await database.store(store)) as Record<string, (...values: unknown[]) => unknown>;
      return opened[name]?.(...values);
    };
  return Object.fromEntries(names.map((name) => [name, callOf(name)]));
}
