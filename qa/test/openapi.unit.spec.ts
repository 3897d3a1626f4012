import { readFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { DOCUMENTS } from '../openapi/documents.js';
import { routesOf } from '../openapi/routes.js';

describe('openapi', () => {
  describe.each(DOCUMENTS)('the description of the $name', ({ file, generate }) => {
    it('equals the output of `npm run openapi`', async () => {
      const committed: unknown = JSON.parse(await readFile(file, 'utf8'));
      // Compares strings, so that differences in order are also found.
      expect(JSON.stringify(committed)).toBe(JSON.stringify(await generate()));
    });

    it('is valid OpenAPI 3.1 and follows the recommended rules', async () => {
      const config = await createConfig({
        extends: ['recommended'],
        rules: {
          // The apps replace the example URLs with their own URLs.
          'no-server-example.com': 'off',
          // The endpoints of the internal port return no 4xx.
          'operation-4xx-response': 'off',
          // A submitted form is answered with a redirect.
          'operation-2xx-response': 'off',
        },
      });
      const problems = await lintFromString({ source: JSON.stringify(await generate()), config });
      expect(
        problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      ).toEqual([]);
    });
  });

  it.each(['authorize', 'token', 'resource'])('every route of %s has @ApiOperation', async (app) => {
    const routes = await routesOf(app);
    expect(routes.length).toBeGreaterThan(2);
    expect(routes.filter(({ operation }) => !operation).map(({ handler }) => handler)).toEqual([]);
  });
});

const MAX_FILES = 10;

describe('a yes-or-no field of a client', () => {
  it(`is named in at most ${MAX_FILES} source files, with its rules in the protocol`, () => {
    const files = ['apps', 'libs'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => /^[\w-]+\/src\/.*\.ts$/.test(file))
        .map((file) => `${folder}/${file}`)
        .filter((file) => /requireState|require_state/.test(readFileSync(file, 'utf8'))),
    );
    expect(files).toContain('libs/clients/src/client-flags.ts');
    expect(files.toSorted().slice(MAX_FILES)).toEqual([]);
  });
});
