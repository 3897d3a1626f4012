import { allowBrowsers } from '#platform/http/allow-browsers.js';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ME_METADATA_PATH, METADATA_PATH } from './metadata/metadata.controller.js';

/** Opens the app to browsers (DESIGN 4). */
export async function configureResource(app: NestFastifyApplication): Promise<void> {
  await allowBrowsers(app, ['/v2/me', `/${METADATA_PATH}`, `/${ME_METADATA_PATH}`]);
}
