import { Global, Module } from '@nestjs/common';
import { Readiness } from './readiness.js';

@Global()
@Module({ providers: [Readiness], exports: [Readiness] })
export class HealthModule {}
