import { Module } from '@nestjs/common';
import { HealthCheckService } from './health-check.service.js';
import { HealthController, KeysController } from './health.controller.js';

@Module({
  controllers: [HealthController, KeysController],
  providers: [HealthCheckService],
  exports: [HealthCheckService],
})
export class HealthModule {}
