import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { ClientAuthModule } from '../client-auth/client-auth.module.js';
import { DpopModule } from '../dpop/dpop.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { RefreshTokenStrategy } from './refresh-token.guard.js';
import { IdTokenService } from './id-token.service.js';
import { TokenController } from './token.controller.js';
import { TokenService } from './token.service.js';

@Module({
  imports: [PassportModule, ClientAuthModule, DpopModule, UsageModule],
  controllers: [TokenController],
  providers: [TokenService, IdTokenService, RefreshTokenStrategy],
})
export class TokenModule {}
