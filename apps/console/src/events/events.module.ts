import { Module } from '@nestjs/common';
import { RequestLimitsModule } from '../request-limits/request-limits.module.js';
import { EventsController } from './events.controller.js';

@Module({ imports: [RequestLimitsModule], controllers: [EventsController] })
export class EventsModule {}
