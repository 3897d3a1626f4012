import { Module } from '@nestjs/common';
import { RequestsModule } from '../requests/requests.module.js';
import { EventsController } from './events.controller.js';

@Module({ imports: [RequestsModule], controllers: [EventsController] })
export class EventsModule {}
