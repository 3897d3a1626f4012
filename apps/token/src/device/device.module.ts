import { Module } from '@nestjs/common';
import { ClientAuthModule } from '../client-auth/client-auth.module.js';
import { DpopModule } from '../dpop/dpop.module.js';
import { DeviceController } from './device.controller.js';
import { DeviceService } from './device.service.js';

@Module({
  imports: [ClientAuthModule, DpopModule],
  controllers: [DeviceController],
  providers: [DeviceService],
})
export class DeviceModule {}
