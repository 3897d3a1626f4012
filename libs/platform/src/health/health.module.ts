import { Global, Module } from '@nestjs/common';
import { Readiness } from './readiness.js';

/** For parts that stand alone, as in tests: what runs as a service is given its readiness before it has modules. */
@Global()
@Module({ providers: [{ provide: Readiness, useFactory: () => new Readiness() }], exports: [Readiness] })
export class HealthModule {}
