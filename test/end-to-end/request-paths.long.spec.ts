import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import request from 'supertest';
import {
  authorizeAddress,
  REDIRECT_URI,
  startAuthorizeApp,
} from '../../apps/authorize/test/support/start-authorize-app.js';
import { startResourceApp } from '../../apps/resource/test/support/start-resource-app.js';
import { REDIRECT_URI as FIXTURE_REDIRECT_URI } from '../support/fixture.js';
import { startTokenApp } from '../../apps/token/test/support/start-token-app.js';

/** Number of requests. A file counts only if every request executes it, which excludes background timers. */
const REPETITIONS = 5;

/** Files that a timer runs every tenth of a second, so that on a busy machine every request includes it; and the functions that requests call. */
const BACKGROUND: Record<string, readonly string[]> = {
  'libs/audit/src/publisher.ts': ['record'],
  'libs/audit/src/store-batch.ts': [],
};

/** Returns the sorted files whose functions every request executes. The first request only fills caches. */
async function filesOf(send: () => Promise<{ status: number }>, status: number): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let common: string[] | undefined;
  for (let n = 0; n <= REPETITIONS; n++) {
    await session.post('Profiler.takePreciseCoverage');
    expect((await send()).status).toBe(status);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const files = result
      .map(({ url, functions }) => ({
        file: relative('.', url.startsWith('file:') ? fileURLToPath(url) : url),
        called: functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
      }))
      .filter(({ file, called }) =>
        called.some(({ functionName }) => BACKGROUND[file]?.includes(functionName) ?? true),
      )
      .map(({ file }) => file)
      .filter((file) => /^(apps|libs)\/(?!testing\/)[^/]+\/src\//.test(file));
    if (n > 0) common = common?.filter((file) => files.includes(file)) ?? files;
  }
  session.disconnect();
  return [...new Set(common)].sort();
}

function documented(heading: string): string[] {
  const [, section = ''] = readFileSync('ARCHITECTURE.md', 'utf8').split(`\n### ${heading}\n`);
  return [...(section.split(/\n##/)[0] ?? '').matchAll(/^\d+\. \[.*?\]\((.*?)\)/gm)].map(
    ([, file = '']) => file,
  );
}

const passed: string[] = [];

/** @param limit maximum number of files, shared ones included, so that a request stays readable from top to bottom */
function expectListed(heading: string, files: readonly string[], limit: number): void {
  const shared = documented('Every request');
  const listed = documented(heading);
  expect([...listed].sort()).toEqual(files.filter((file) => !shared.includes(file)));
  expect(files.length).toBeLessThanOrEqual(limit);
  passed.push(...files);
}

describe('ARCHITECTURE.md', () => {
  it('lists the files executed for POST /api/auth/oauth/token', async () => {
    const app = await startTokenApp();
    try {
      const client = await app.client();
      const userId = await app.user();
      const codes = await Promise.all(
        Array.from({ length: REPETITIONS + 1 }, () => app.code(client.client_id, userId)),
      );
      const files = await filesOf(
        () =>
          request(app.server)
            .post('/api/auth/oauth/token')
            .type('form')
            .send({
              grant_type: 'authorization_code',
              code: codes.pop() ?? '',
              redirect_uri: FIXTURE_REDIRECT_URI,
              ...client,
            }),
        200,
      );
      expectListed('POST /api/auth/oauth/token', files, 22);
    } finally {
      await app.close();
    }
  });

  it('lists the files executed for GET /auth/oauth2/authorize', async () => {
    const app = await startAuthorizeApp({});
    try {
      const client = await app.client();
      const browser = await app.loggedIn(await app.user());
      const address = authorizeAddress({
        client_id: client.clientId,
        redirect_uri: REDIRECT_URI,
        state: 's1',
      });
      const files = await filesOf(() => browser.get(address), 200);
      expectListed('GET /auth/oauth2/authorize', files, 30);
    } finally {
      await app.close();
    }
  });

  it('lists the files executed for GET /v2/me', async () => {
    const app = await startResourceApp();
    try {
      const { access_token } = await app.pair(await app.client(), await app.user());
      const files = await filesOf(
        () => request(app.server).get('/v2/me').set('Authorization', `Bearer ${access_token}`),
        200,
      );
      expectListed('GET /v2/me', files, 11);
    } finally {
      await app.close();
    }
  });

  it('lists under "Every request" only files that a request executes', () => {
    expect(documented('Every request').filter((file) => !passed.includes(file))).toEqual([]);
  });
});
