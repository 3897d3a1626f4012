import { Module } from '@nestjs/common';
import { Introspector } from '#introspection/index.js';
import { countLookups, Metrics } from '#platform/telemetry/metrics.js';
import { MeController } from './me.controller.js';
import { ProfileService } from './profile.service.js';

@Module({ controllers: [MeController], providers: [ProfileService] })
export class MeModule {
  constructor(introspector: Introspector, metrics: Metrics) {
    introspector.observe(countLookups(metrics, 'tokens'));
  }
}
