import { readFile } from 'node:fs/promises';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { DOCUMENTS } from '../openapi/documents.js';
import { routesOf } from '../openapi/routes.js';

describe.each(DOCUMENTS)('the description of the $name', ({ file, generate }) => {
  it('equals the output of `npm run openapi`', async () => {
    const committed: unknown = JSON.parse(await readFile(file, 'utf8'));
    // Compares texts, so that the order counts too.
    expect(JSON.stringify(committed)).toBe(JSON.stringify(await generate()));
  });

  it('is valid OpenAPI 3.1, and follows the recommended rules', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        // The apps replace these addresses with their own.
        'no-server-example.com': 'off',
        // The internal port answers every request.
        'operation-4xx-response': 'off',
        // The response to the form of a page is a redirect.
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
