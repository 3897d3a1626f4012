import { Module } from '@nestjs/common';
import { EXTERNAL_LOGIN } from '../external-login/external-login.metadata.js';
import { LoginProvider } from '../external-login/login-provider.js';
import { OidcLoginController } from './oidc-login.controller.js';
import { OidcLoginService } from './oidc-login.service.js';
import { OpenIdProvider } from './openid-provider.js';

@Module({
  imports: EXTERNAL_LOGIN.imports,
  controllers: [...EXTERNAL_LOGIN.controllers, OidcLoginController],
  providers: [
    ...EXTERNAL_LOGIN.providers,
    OidcLoginService,
    OpenIdProvider,
    { provide: LoginProvider, useExisting: OpenIdProvider },
  ],
})
export class OidcLoginModule {}
