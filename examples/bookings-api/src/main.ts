import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule);
app.enableShutdownHooks();
await app.listen(process.env['PORT'] ?? 3005, process.env['HOST'] ?? '127.0.0.1');
console.log(`The bookings API listens on ${await app.getUrl()}/bookings`);
