import { Module } from '@nestjs/common';
import { EventService } from './event.service.js';

const SERVICES = [EventService];

@Module({ providers: SERVICES, exports: SERVICES })
export class EventOperationsModule {}
