import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { AdministrationOptions } from './administration.options.js';
import { Announcer } from './announcer.js';
import { AuditTrail } from './audit-trail.js';
import { RunningServices } from './running-services/running-services.js';

/** Provides the base of all operations. A process also imports the modules of the operations that it has. */
@Module({})
export class OperationsModule {
  /** @param imports modules that provide the stores */
  static forRoot(
    options: AdministrationOptions,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    const providers = [
      { provide: AdministrationOptions, useValue: options },
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
