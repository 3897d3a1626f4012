import { type DynamicModule, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { AdministrationOptions } from './administration.options.js';
import { Announcer } from './announcer.js';
import { AuditTrail } from './audit-trail.js';
import { CommandNats, OperatorNats } from './operator-nats.js';
import { RunningServices } from './running-services/running-services.js';

/** Provides the base of all operations. A process also imports the modules of the operations that it has. */
@Module({})
export class OperationsModule {
  /**
   * @param imports modules that provide the stores
   * @param nats adapter of the process; `CommandNats` by default
   */
  static forRoot(
    options: AdministrationOptions,
    imports: NonNullable<ModuleMetadata['imports']>,
    nats: Provider<OperatorNats> = { provide: OperatorNats, useFactory: () => new CommandNats(options) },
  ): DynamicModule {
    const providers = [
      { provide: AdministrationOptions, useValue: options },
      nats,
      AuditTrail,
      RunningServices,
      Announcer,
    ];
    return {
      module: OperationsModule,
      global: true,
      imports,
      providers,
      exports: [...providers, ...(imports as NonNullable<ModuleMetadata['exports']>)],
    };
  }
}
