import { Module } from '@nestjs/common';
import { HealthCheck } from './health-check.service.js';
import { HealthController } from './health.controller.js';
import { KeysController } from './keys.controller.js';

@Module({ controllers: [HealthController, KeysController], providers: [HealthCheck] })
export class HealthModule {}
