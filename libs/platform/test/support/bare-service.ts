import { Controller, type DynamicModule, Get, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { parseForm, parseJson } from '#oauth/parameters.js';
import { createService, type Service } from '#platform/bootstrap/service.js';
import { UNREAD_BODY_MS } from '#platform/http/request-hooks.js';

interface Options extends Pick<Service, 'crossOriginPaths' | 'overloadBody'> {
  readonly publicUrl?: string;
}

@Controller('thing')
class ThingController {
  @Get()
  thing(): object {
    return {};
  }
}

@Module({})
class ThingModule {}

export const THING: DynamicModule = { module: ThingModule, controllers: [ThingController] };

export function createBareService(
  module: DynamicModule,
  { publicUrl = 'http://localhost', ...options }: Options = {},
  instruments?: Parameters<typeof createService>[1],
): Promise<NestFastifyApplication> {
  const service = {
    name: 'thing',
    module,
    configuration: { TRUSTED_PROXIES: '', LOG_LEVEL: 'silent', publicUrl },
    bodyParsers: { 'application/x-www-form-urlencoded': parseForm, 'application/json': parseJson },
    ...options,
  };
  return createService(service, instruments);
}

/** Retries if the machine paused for longer than `UNREAD_BODY_MS`, after which the server resets the connection. */
export async function sendInTime(send: () => Promise<string>): Promise<string> {
  for (;;) {
    const began = performance.now();
    const answer = await send().catch(String);
    if (answer.startsWith('HTTP') || performance.now() - began <= UNREAD_BODY_MS) return answer;
  }
}
