import { Module } from '@nestjs/common';
import { IntrospectionModule } from '@scheduling-oauth/introspection';
import { BookingsController } from './bookings.controller.js';
import { ReadinessController } from './readiness.controller.js';

@Module({
  imports: [
    IntrospectionModule.forRoot({
      natsUrl: process.env['NATS_URL'] ?? 'nats://127.0.0.1:4222',
      // Public URL of this API, such as https://bookings.example.com. Without it, only Bearer tokens for all APIs are
      // accepted.
      resourceUrl: process.env['API_URL'],
    }),
  ],
  controllers: [BookingsController, ReadinessController],
})
export class AppModule {}
