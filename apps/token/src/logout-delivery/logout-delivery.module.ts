import { Module } from '@nestjs/common';
import { LogoutConsumer } from './logout-consumer.js';
import { LogoutDeliveryService } from './logout-delivery.service.js';
import { LogoutQueueMonitor } from './logout-queue-monitor.js';

@Module({
  providers: [LogoutConsumer, LogoutDeliveryService, LogoutQueueMonitor],
})
export class LogoutDeliveryModule {}
