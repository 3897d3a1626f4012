// `npm run openapi` writes the API descriptions from the controllers' decorators. A unit test fails if they are stale.
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { DOCUMENTS } from './openapi/documents.js';

for (const { file, generate } of DOCUMENTS)
  writeFileSync(
    file,
    await format(JSON.stringify(await generate()), { ...(await resolveConfig(file)), filepath: file }),
  );
