import { Module } from '@nestjs/common';
import { ConsentModule } from '../consent/consent.module.js';
import { SessionModule } from '../session/session.module.js';
import { UiModule } from '../ui/ui.module.js';
import { DeviceController } from './device.controller.js';
import { DeviceService } from './device.service.js';

@Module({
  imports: [ConsentModule, SessionModule, UiModule],
  controllers: [DeviceController],
  providers: [DeviceService],
})
export class DeviceModule {}
