// `npm run openapi` writes the descriptions of the APIs from the decorators of the controllers. A unit test fails while they are
// stale.
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import {
  administrationDocument,
  authorizationServerDocument,
  resourceServerDocument,
} from './openapi/documents.js';

const DOCUMENTS = {
  'apps/token/src/openapi/openapi.json': await authorizationServerDocument(),
  'apps/resource/src/openapi/openapi.json': await resourceServerDocument(),
  'apps/console/src/openapi/openapi.json': await administrationDocument(),
};

for (const [file, document] of Object.entries(DOCUMENTS))
  writeFileSync(
    file,
    await format(JSON.stringify(document), { ...(await resolveConfig(file)), filepath: file }),
  );
