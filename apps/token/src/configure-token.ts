import { ENDPOINTS } from '#oauth/endpoints.js';
import type { CustomStrategy, NatsOptions, NestMicroservice } from '@nestjs/microservices';
import { natsOptions } from '#platform/nats/nats.connection.js';
import { allowBrowsers } from '#platform/http/allow-browsers.js';
import type { Configure } from '#platform/http/service.js';
import { announceRequests } from './announce-requests.js';
import { GracefulNatsServer } from './graceful-nats-server.js';
import type { TokenConfiguration } from './token.configuration.js';

/** The endpoints that public clients call from a browser. Introspection is for resource servers only. */
const BROWSER_ENDPOINTS = [
  ENDPOINTS.token,
  ENDPOINTS.refreshToken,
  ENDPOINTS.revoke,
  ENDPOINTS.par,
  ENDPOINTS.authorizationServerMetadata,
];

/** Opens the app to browsers, and makes it answer over NATS: every request goes to one of its copies (queue group). */
export function configureToken({ NATS_URL, dependencyTimeoutMs }: TokenConfiguration): Configure {
  return async (app) => {
    await allowBrowsers(app, BROWSER_ENDPOINTS);
    const options = {
      ...natsOptions(NATS_URL, 'token responder'),
      queue: 'token',
    } as Required<NatsOptions>['options'];
    // Deferred, because a hook must be there before the responders are bound.
    const responders = app.connectMicroservice<CustomStrategy>(
      { strategy: new GracefulNatsServer(options, dependencyTimeoutMs) },
      { deferInitialization: true },
    ) as NestMicroservice;
    responders.registerPreRequestHook(announceRequests);
    // The app calls the modules' hooks by itself; deferred, they would be called twice.
    responders.setIsInitHookCalled(true);
  };
}
