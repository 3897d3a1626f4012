import { PAGE_HEADERS } from '#ui/html.js';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { parseOnlyForm } from '#oauth/parameters.js';
import type { Clock } from '#platform/clock.js';
import type { Service } from '#platform/bootstrap/service.js';
import { AccountModule } from './account/account.module.js';
import type { AuthorizeConfiguration } from './configuration/authorize.configuration.js';
import { AuthorizeModule } from './authorize/authorize.module.js';
import { ConnectedAppsModule } from './connected-apps/connected-apps.module.js';
import { CoreModule } from './core.module.js';
import { DeviceModule } from './device/device.module.js';
import { ErrorFilter } from './error.filter.js';
import { ErrorGuideModule } from './error-guide/error-guide.module.js';
import { JwtLoginModule } from './jwt-login/jwt-login.module.js';
import { LoginModule } from './login/login.module.js';
import { LogoModule } from './logo/logo.module.js';
import { SessionModule } from './session/session.module.js';
import { OidcLoginModule } from './oidc-login/oidc-login.module.js';
import { malformedRequestPage } from './ui/errors/error.page.js';
import { UiModule } from './ui/ui.module.js';

@Module({})
export class AppModule {
  static forRoot(configuration: AuthorizeConfiguration, clock: Clock = Date.now): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.forRoot(configuration, clock),
        UiModule,
        SessionModule,
        loginModule(configuration),
        AuthorizeModule,
        AccountModule,
        ConnectedAppsModule,
        DeviceModule,
        LogoModule,
        ErrorGuideModule,
      ],
      providers: [{ provide: APP_FILTER, useClass: ErrorFilter }],
    };
  }
}

function loginModule({ LOGIN_ISSUER, LOGIN_URL }: AuthorizeConfiguration): Type {
  if (LOGIN_ISSUER !== '') return OidcLoginModule;
  return LOGIN_URL === '' ? LoginModule : JwtLoginModule;
}

export function authorizeApp(
  configuration: AuthorizeConfiguration,
  clock: Clock = Date.now,
): Service<AuthorizeConfiguration> {
  const { brand } = configuration;
  return {
    name: 'authorize',
    module: AppModule.forRoot(configuration, clock),
    configuration,
    sharedSettings: configuration.sharedSettings,
    // Pages post only forms; a request with any other content type gets 415.
    bodyParsers: { 'application/x-www-form-urlencoded': parseOnlyForm },
    headers: PAGE_HEADERS,
    malformedRequest: (status) => malformedRequestPage(status, brand),
  };
}
