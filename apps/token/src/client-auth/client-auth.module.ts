import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module.js';
import { AssertionStore } from './assertion.store.js';
import { ClientAssertionService } from './client-assertion.service.js';
import { ClientKeysResponder } from './client-keys.responder.js';
import { ClientAuthenticator } from './client-authenticator.js';
import { RemoteClientKeysService } from './remote-client-keys.service.js';
import { ResourceServerAuthenticator } from './resource-server-authenticator.js';

@Module({
  imports: [UsageModule],
  controllers: [ClientKeysResponder],
  providers: [
    AssertionStore,
    RemoteClientKeysService,
    ClientAssertionService,
    ClientAuthenticator,
    ResourceServerAuthenticator,
  ],
  exports: [ClientAuthenticator, ResourceServerAuthenticator],
})
export class ClientAuthModule {}
