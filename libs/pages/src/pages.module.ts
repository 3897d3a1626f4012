import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { CopyScriptController, IconController } from './assets.controller.js';
import { BrowserLoginService } from './browser-login.service.js';
import { BrowserCookie, SessionCookie } from './cookies.js';
import { FormCheck } from './form-check.js';
import { IdempotencyService } from './idempotency.service.js';
import { KeptFormsService } from './kept-forms.service.js';
import { OpenIdLogin } from './openid-login.js';
import { PageFrame, PageResponder } from './page.responder.js';
import { PagesOptions } from './pages.options.js';
import { RateLimits } from './rate-limit.js';
import { RecentLogins } from './recent-logins.js';
import { SessionStore } from './session.store.js';

const SHARED = [
  BrowserCookie,
  BrowserLoginService,
  FormCheck,
  IdempotencyService,
  KeptFormsService,
  OpenIdLogin,
  PageResponder,
  RateLimits,
  RecentLogins,
  SessionCookie,
  SessionStore,
];

/** Pages of logged-in users. Uses the app's `Brand`, clock and Redis. */
@Module({})
export class PagesModule {
  static forRoot(options: PagesOptions, frame: Type<PageFrame>): DynamicModule {
    const given = [
      { provide: PagesOptions, useValue: options },
      { provide: PageFrame, useClass: frame },
    ];
    return {
      module: PagesModule,
      global: true,
      controllers: [IconController, CopyScriptController],
      providers: [...SHARED, ...given],
      exports: [...SHARED, ...given],
    };
  }
}
