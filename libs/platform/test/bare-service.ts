import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { parseForm, parseJson } from '#oauth/parameters.js';
import { createService } from '#platform/bootstrap/service.js';

interface Options {
  readonly publicUrl?: string;
  readonly crossOriginPaths?: readonly string[];
}

/** A service with nothing but this module and what every service has. */
export function createBareService(
  module: DynamicModule,
  { publicUrl = 'http://localhost', ...options }: Options = {},
): Promise<NestFastifyApplication> {
  return createService({
    name: 'thing',
    module,
    configuration: { TRUSTED_PROXIES: '', LOG_LEVEL: 'silent', publicUrl },
    bodyParsers: { 'application/x-www-form-urlencoded': parseForm, 'application/json': parseJson },
    ...options,
  });
}
