// `npm run openapi` writes the descriptions of the APIs from the decorators of the controllers. A unit test fails while they are
// stale.
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { DOCUMENTS } from './openapi/documents.js';

for (const { file, generate } of DOCUMENTS)
  writeFileSync(
    file,
    await format(JSON.stringify(await generate()), { ...(await resolveConfig(file)), filepath: file }),
  );
