import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DpopKey } from '#test/support/keys.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { FaultProxy } from '#test/support/fault-proxy.js';
import { startTokenProcess, type TokenProcess } from '#test/support/token-process.js';
import {
  type Answer,
  COMMONJS,
  FASTIFY_MAIN,
  OutsideProject,
  packIntrospection,
  patiently,
  type RunningProject,
  TYPES,
  WITHOUT_NATS,
} from './projects.js';

const PACKAGE = '@scheduling-oauth/introspection';
const TOKEN_PATH = '/api/auth/oauth/token';
const API_URL = 'https://bookings.example.com';
const EXPORTS = [
  'CurrentToken',
  'IntrospectionModule',
  'Introspector',
  'RequireClientToken',
  'RequireScope',
  'ResourceMetadata',
  'TokenGuard',
];
/** Shorter than the 30 s for which a token is cached, so that no test passes because a cached token has expired. */
const PATIENCE_MS = 20_000;

let tarball: string;
let tokenApp: TokenProcess;
let network: FaultProxy;
let key: DpopKey;
let bookingsApi: OutsideProject;
let commonJs: OutsideProject;

beforeAll(async () => {
  [tarball] = await Promise.all([
    packIntrospection(),
    (async () => {
      tokenApp = await startTokenProcess();
      network = await FaultProxy.start(tokenApp.natsUrl);
      key = await DpopKey.generate();
    })(),
  ]);
  // Runs sequentially, because both installations fill npm's cache.
  bookingsApi = await OutsideProject.from('examples/bookings-api', tarball, {
    '@nestjs/platform-fastify': '^12.5.0',
    '@nestjs/testing': '^12.0.0',
  });
  commonJs = await OutsideProject.from(COMMONJS, tarball);
  await bookingsApi.write({ 'fastify.js': FASTIFY_MAIN, 'without-nats.js': WITHOUT_NATS });
  expect(await bookingsApi.compile()).toBe('');
  const options = [
    '--module',
    'nodenext',
    '--outDir',
    'dist',
    '--rootDir',
    'src',
    '--skipLibCheck',
    '--types',
    'node',
  ];
  const decorators = ['--experimentalDecorators', '--emitDecoratorMetadata'];
  expect(await commonJs.compile(...options, ...decorators, 'src/main.ts')).toBe('');
}, 600_000);

afterAll(async () => {
  await bookingsApi?.remove();
  await commonJs?.remove();
  await network?.close();
  await tokenApp?.close();
});

async function accessToken(scope: string, isBound = false): Promise<string> {
  const code = await tokenApp.code(tokenApp.ours.client_id, tokenApp.userId, { scope });
  const proof = await key.proof('POST', `https://base.example.com${TOKEN_PATH}`);
  const answer = await fetch(tokenApp.url + TOKEN_PATH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(isBound && { DPoP: proof }) },
    body: JSON.stringify({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      ...tokenApp.ours,
    }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function revoke(token: string): Promise<void> {
  const answer = await fetch(`${tokenApp.url}/api/auth/oauth/revoke`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, ...tokenApp.ours }),
  });
  expect(answer.status).toBe(200);
}

describe.each([
  ['Express, NestJS 12 and ES modules', () => bookingsApi, ['dist/main.js']],
  ['Fastify, NestJS 12 and ES modules', () => bookingsApi, ['fastify.js']],
  ['Express, NestJS 11 and CommonJS', () => commonJs, ['dist/main.js']],
  // Jest and bundlers load the package in this way.
  [
    'Express, NestJS 11 and CommonJS that cannot require ES modules',
    () => commonJs,
    ['--no-experimental-require-module', 'dist/main.js'],
  ],
] as const)('the package in a project with %s', (_name, project, program) => {
  let service: RunningProject;

  beforeAll(async () => {
    service = await project().start(program, { NATS_URL: network.url, API_URL });
  });

  afterAll(() => service?.stop());

  const get = (authorization?: string, proof?: string): Promise<Answer> =>
    service.send('/bookings', {
      headers: { ...(authorization && { Authorization: authorization }), ...(proof && { DPoP: proof }) },
    });
  const asBearer = (token: string) => patiently(() => get(`Bearer ${token}`));
  const challengeOf = ({ headers }: Answer) => headers.get('www-authenticate');

  /** Repeats a request until its response has this status. */
  async function until(status: number, send: () => Promise<Answer>): Promise<Answer> {
    for (const end = Date.now() + PATIENCE_MS; ; await sleep(20)) {
      const answer = await send();
      if (answer.status === status) return answer;
      if (Date.now() > end) throw new Error(`still ${answer.status} and not ${status}`);
    }
  }

  it('accepts a valid access token and passes its client to the handler', async () => {
    const token = await accessToken('bookings:read bookings:write');
    const added = await patiently(() =>
      service.send('/bookings', {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ title: 'Dentist' }),
      }),
    );
    expect(added.status).toBe(201);
    const { status, body } = await asBearer(token);
    expect(status).toBe(200);
    expect(body).toMatchObject([{ by: tokenApp.ours.client_id }]);
  });

  // @rfc 6750 3
  it('responds to a request without a token with a challenge and an error body in Nest’s format', async () => {
    const answer = await get();
    expect([answer.status, challengeOf(answer)]).toEqual([
      401,
      expect.stringMatching(/^Bearer realm="oauth", scope="bookings:read", DPoP /),
    ]);
    expect(answer.body).toMatchObject({ statusCode: 401, message: expect.stringContaining('access token') });
  });

  // @rfc 6750 3.1
  it('rejects a token without the required scope', async () => {
    const answer = await asBearer(await accessToken('bookings:write'));
    expect([answer.status, challengeOf(answer)]).toEqual([
      403,
      expect.stringMatching(/^Bearer realm="oauth", error="insufficient_scope", scope="bookings:read"/),
    ]);
    expect(answer.body).toMatchObject({ statusCode: 403 });
  });

  it('rejects a cached token after its revocation', async () => {
    const token = await accessToken('bookings:read');
    expect((await asBearer(token)).status).toBe(200);
    await revoke(token);
    const refused = await until(401, () => asBearer(token));
    expect(challengeOf(refused)).toMatch(/^Bearer realm="oauth", error="invalid_token"/);
  });

  // @rfc 9449 7
  it('accepts a bound token with a new proof of its key, but not with a used proof or as Bearer', async () => {
    const token = await accessToken('bookings:read', true);
    let proof = '';
    const accepted = await patiently(async () => {
      proof = await key.proof('GET', `${API_URL}/bookings`, { accessToken: token });
      return get(`DPoP ${token}`, proof);
    });
    expect(accepted.status).toBe(200);
    const again = await patiently(() => get(`DPoP ${token}`, proof));
    expect([again.status, challengeOf(again)]).toEqual([
      401,
      expect.stringMatching(/^DPoP error="invalid_dpop_proof"/),
    ]);
    expect((await asBearer(token)).status).toBe(401);
  });

  it('responds with 503 while NATS is unavailable, and recovers afterwards', async () => {
    const token = await accessToken('bookings:read');
    expect((await asBearer(token)).status).toBe(200);
    network.disconnect();
    try {
      const refused = await until(503, () => get(`Bearer ${token}`));
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(refused.body).toMatchObject({ statusCode: 503 });
      expect((await service.send('/readyz')).status).toBeGreaterThanOrEqual(500);
      await revoke(token);
    } finally {
      network.reconnect();
    }
    // The broadcast was lost, but the reconnection clears the cache.
    await until(401, () => asBearer(token));
    await until(200, () => service.send('/readyz'));
    expect((await asBearer(await accessToken('bookings:read'))).status).toBe(200);
  });
});

describe('the package', () => {
  it('is the file that the example installs', async () => {
    const manifest = JSON.parse(await readFile('examples/bookings-api/package.json', 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const installed = manifest.dependencies[PACKAGE]?.replace('file:', 'examples/bookings-api/') ?? '';
    expect(resolve(installed)).toBe(tarball);
  });

  it("uses the project's copy of Nest, and does not install the bundled packages", async () => {
    for (const project of [bookingsApi, commonJs]) {
      expect(await project.copiesOf('@nestjs/common')).toEqual(['@nestjs/common']);
      expect(await project.copiesOf('@nestjs/core')).toEqual(['@nestjs/core']);
      for (const name of ['jose', 'passport', '@nestjs/passport', '@nats-io/transport-node', 'prom-client'])
        expect([name, await project.copiesOf(name)]).toEqual([name, []]);
    }
  });

  it('has the same exports for import and for require', async () => {
    const names = `console.log(JSON.stringify(Object.keys(ours).filter((name) => name !== 'module.exports').sort()))`;
    const required = `const ours = require('${PACKAGE}'); ${names}`;
    const imported = `import * as ours from '${PACKAGE}'; ${names}`;
    for (const args of [
      ['--input-type=module', '-e', imported],
      ['--input-type=commonjs', '-e', required],
      ['--no-experimental-require-module', '--input-type=commonjs', '-e', required],
    ])
      expect(JSON.parse(await commonJs.run(...args))).toEqual(EXPORTS);
    const isOne = `import('${PACKAGE}').then(({ TokenGuard }) => console.log(TokenGuard === require('${PACKAGE}').TokenGuard))`;
    for (const project of [bookingsApi, commonJs])
      expect(await project.run('--input-type=commonjs', '-e', isOne)).toBe('true\n');
  });

  it('allows a project to test its handlers without NATS in a process that exits', async () => {
    expect(await bookingsApi.run('without-nats.js')).toBe('[]\n');
  });

  it.each([
    ['nodenext', 'nodenext', ['types.mts', 'types.cts'], () => bookingsApi],
    ['esnext', 'bundler', ['types.ts'], () => bookingsApi],
    ['nodenext', 'nodenext', ['types.mts'], () => commonJs],
    ['node16', 'node16', ['types.cts'], () => commonJs],
    ['commonjs', 'bundler', ['types.ts'], () => commonJs],
  ] as const)(
    'has types for module %s with resolution %s in %j',
    async (module, resolution, files, project) => {
      for (const file of files) await project().write({ [file]: TYPES });
      const options = [
        '--ignoreConfig',
        '--noEmit',
        '--strict',
        '--exactOptionalPropertyTypes',
        '--experimentalDecorators',
      ];
      const system = ['--module', module, '--moduleResolution', resolution, '--types', 'node'];
      expect(await project().compile(...options, ...system, ...files)).toBe('');
    },
  );
});
