import { type NatsOptions, Transport } from '@nestjs/microservices';
import { natsOptions } from '#introspection/nats-options.js';
import { allowBrowsers } from '#service/http/allow-browsers.js';
import type { Configure } from '#service/http/service.js';
import { PATHS } from './paths.js';
import type { TokenConfiguration } from './token.configuration.js';

/** What public clients in a browser call (DESIGN 4); introspection is for resource servers. */
const OPEN_TO_BROWSERS = [PATHS.token, PATHS.refreshToken, PATHS.revoke, PATHS.par, PATHS.metadata].map(
  (path) => `/${path}`,
);

/** Opens the app to browsers, and makes it answer over NATS: every request goes to one of its copies (queue group). */
export function configureToken({ NATS_URL }: TokenConfiguration): Configure {
  return async (app) => {
    await allowBrowsers(app, OPEN_TO_BROWSERS);
    const options = { ...natsOptions(NATS_URL, 'token responder'), queue: 'token' } as NonNullable<
      NatsOptions['options']
    >;
    app.connectMicroservice<NatsOptions>({ transport: Transport.NATS, options });
  };
}
