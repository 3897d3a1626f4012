import { createConfig, lintFromString } from '@redocly/openapi-core';
import {
  administrationDocument,
  authorizationServerDocument,
  resourceServerDocument,
} from '../openapi/documents.js';
import type { OpenApiDocument } from '../openapi/document.js';
import { routesOf } from '../openapi/routes.js';

const DOCUMENTS: [name: string, generate: () => Promise<OpenApiDocument>, load: () => Promise<unknown>][] = [
  [
    'authorization server',
    authorizationServerDocument,
    () => import('../../apps/token/src/openapi/openapi.json', { with: { type: 'json' } }),
  ],
  [
    'API',
    resourceServerDocument,
    () => import('../../apps/resource/src/openapi/openapi.json', { with: { type: 'json' } }),
  ],
  [
    'administration',
    administrationDocument,
    () => import('../../apps/console/src/openapi/openapi.json', { with: { type: 'json' } }),
  ],
];

describe.each(DOCUMENTS)('the description of the %s', (_name, generate, load) => {
  it('is the one that `npm run openapi` generates from the decorators', async () => {
    const { default: committed } = (await load()) as { default: unknown };
    // Text, to compare the order as well.
    expect(JSON.stringify(committed)).toBe(JSON.stringify(await generate()));
  });

  it('is valid OpenAPI 3.1, and keeps the recommended rules', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        // The apps replace these addresses by their own.
        'no-server-example.com': 'off',
        // The internal port answers every request.
        'operation-4xx-response': 'off',
        // Forms of pages answer by redirects.
        'operation-2xx-response': 'off',
      },
    });
    const problems = await lintFromString({ source: JSON.stringify(await generate()), config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });
});

it.each(['authorize', 'token', 'resource'])('every route of %s has @ApiOperation', async (app) => {
  const routes = await routesOf(app);
  expect(routes.length).toBeGreaterThan(2);
  expect(routes.filter(({ operation }) => !operation).map(({ handler }) => handler)).toEqual([]);
});
