import { Module } from '@nestjs/common';
import { ClientAuthModule } from '../client-auth/client-auth.module.js';
import { DpopModule } from '../dpop/dpop.module.js';
import { DeviceAuthorizationController } from './device-authorization.controller.js';
import { DeviceAuthorizationService } from './device-authorization.service.js';

@Module({
  imports: [ClientAuthModule, DpopModule],
  controllers: [DeviceAuthorizationController],
  providers: [DeviceAuthorizationService],
})
export class DeviceAuthorizationModule {}
