import { Module } from '@nestjs/common';
import { HealthCheckService } from './health-check.service.js';
import { HealthController } from './health.controller.js';
import { KeysController } from './token-keys.controller.js';

@Module({
  controllers: [HealthController, KeysController],
  providers: [HealthCheckService],
  exports: [HealthCheckService],
})
export class HealthModule {}
