import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { answerUnreadable } from './unreadable-request.js';

/** What this app's answers have besides those of the other apps, because people see them in a browser. */
@Injectable()
export class PageSurface implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance();
    // Fastify's own answer would be JSON.
    fastify.server.removeAllListeners('clientError').on('clientError', answerUnreadable);
    const secure = this.configuration.AUTH_URL.startsWith('https:');
    // Pages post forms. Refusing everything else leaves other sites' scripts no type to try without a preflight.
    fastify.removeContentTypeParser('application/json');
    fastify.addHook('onSend', async (_request, { raw }) => {
      raw.setHeader('X-Frame-Options', 'DENY');
      // Applications open this app in a popup and hear from it through `window.opener` when it is back with them;
      // the default, same-origin, would cut that tie for good.
      raw.setHeader('Cross-Origin-Opener-Policy', 'unsafe-none');
      if (!secure) raw.removeHeader('Strict-Transport-Security');
    });
  }
}
