import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module.js';
import { ClientAuthenticator } from './client-authenticator.service.js';
import { ResourceServerAuthenticator } from './resource-server-authenticator.service.js';

@Module({
  imports: [UsageModule],
  providers: [ClientAuthenticator, ResourceServerAuthenticator],
  exports: [ClientAuthenticator, ResourceServerAuthenticator],
})
export class ClientAuthModule {}
