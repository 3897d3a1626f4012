import { Module } from '@nestjs/common';
import { ClientAuthModule } from '../client-auth/client-auth.module.js';
import { DpopModule } from '../dpop/dpop.module.js';
import { ParController } from './par.controller.js';
import { ParService } from './par.service.js';

@Module({
  imports: [ClientAuthModule, DpopModule],
  controllers: [ParController],
  providers: [ParService],
})
export class ParModule {}
