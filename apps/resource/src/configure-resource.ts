import { ENDPOINTS } from '#oauth/endpoints.js';
import { allowBrowsers } from '#platform/http/allow-browsers.js';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ME_METADATA_PATH } from './metadata/metadata.controller.js';

/** Lets browsers call the API and read its metadata. */
export async function configureResource(app: NestFastifyApplication): Promise<void> {
  await allowBrowsers(app, [ENDPOINTS.me, ENDPOINTS.protectedResourceMetadata, ME_METADATA_PATH]);
}
