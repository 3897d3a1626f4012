import { Module } from '@nestjs/common';
import { EventService } from './event.service.js';
import { EventStreamService } from './event-stream.service.js';

const SERVICES = [EventService, EventStreamService];

@Module({ providers: SERVICES, exports: SERVICES })
export class EventOperationsModule {}
