import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { generateIdTokenKeys, publicIdTokenKeys } from '#oauth/openid/signing-keys.js';
import type { RunFile } from '#local/demo/run-script.js';
import { runCommand } from '../../apps/operator/test/support/use-operator.js';
import { type AppProcess, startApp } from '../support/app-process.js';
import { NODE_ARGUMENTS } from '../support/built.js';
import { withCredentials } from '../support/process-credentials.js';
import { until } from '../support/until.js';
import { DocumentedSession, documentedCommands, type DocumentedStep } from './documented-session.js';
import { openRotation, type Rotation, STARTED_BEFORE } from './rotation.js';
import { allow, register } from './running-product.js';

const DOCUMENT = 'docs/operate.md';
const COMMAND = [process.execPath, ...NODE_ARGUMENTS, resolve('dist/apps/operator.cjs')];
const OPERATOR = `operator() { ${COMMAND.map((word) => `'${word}'`).join(' ')} "$@"; }`;
const CLIENT = 'sc_lhzvn2l7x6iosah5cpowvxtw';
const REDIRECT_URI = 'https://rooms.example.com/callback';
const TOKEN_KEYS = randomBytes(32).toString('base64url');

const steps = documentedCommands(await readFile(DOCUMENT, 'utf8'));
let folder: string;
let rotation: Rotation;
let resource: AppProcess;
let run: RunFile;
let session: DocumentedSession;
let accessToken: string;

beforeAll(async () => {
  rotation = await openRotation({ TOKEN_KEYS });
  folder = await mkdtemp(join(tmpdir(), 'operate-'));
  const keys = await generateIdTokenKeys();
  await writeFile(join(folder, 'current-keys'), TOKEN_KEYS);
  await writeFile(join(folder, 'current-id-keys'), keys);
  [resource] = await Promise.all([
    startApp('resource', rotation.env),
    rotation.replace('token', 0, { ID_TOKEN_KEYS: keys }),
    rotation.replace('authorize', 0, { ID_TOKEN_KEYS: publicIdTokenKeys(keys) }),
  ]);
  const urls = { ...rotation.env, API_URL: resource.url };
  run = await register(urls.DATABASE_URL, urls, 'http://localhost:1/callback');
  session = new DocumentedSession(OPERATOR, folder, {
    PATH: process.env.PATH,
    OPERATOR_NAME: 'grace',
    SCOPES_FILE: resolve('scopes.yaml'),
    ...withCredentials('operator', rotation.env),
  });
  session.set('https://auth.example.com', run.auth_url);
  session.set('https://api.example.com', run.base_url);
});

afterAll(async () => {
  await resource?.stop();
  await rotation?.close();
  await rm(folder, { recursive: true });
});

/** Actions between the commands. Each key is a comment in the document. */
const EVENTS: Readonly<Record<string, () => Promise<void>>> = {
  'the user allows': async () => {
    const code = await allowedCode();
    const { status, body } = await redeem(code);
    expect(status).toBe(200);
    accessToken = body['access_token'] ?? '';
  },
  'current-keys has the keys': async () => undefined,
  'current-id-keys has the keys of ID tokens': async () => undefined,
  'token and authorize have next-id-keys for six minutes': async () => {
    const ID_TOKEN_KEYS = await contentOf('next-public-keys');
    await rotation.replace('authorize', 0, { ID_TOKEN_KEYS });
    await replaceToken('next-id-keys');
  },
  'token has signing-id-keys': () => replaceToken('signing-id-keys'),
  'the ID tokens of the old key have expired': async () => {
    await rotation.database.query(
      `UPDATE token_keys SET needed_until = now() WHERE ring = 'RS256'
         AND last_signed_at < (SELECT max(last_signed_at) FROM token_keys WHERE ring = 'RS256')`,
    );
  },
  'the application sends a wrong redirect URI': async () => {
    const { status, body } = await redeem(await allowedCode(), secretNow(), `${REDIRECT_URI}/`);
    expect(status).toBe(400);
    const reference = body['error_reference'] ?? '';
    session.set('t3ib0_DJFYhc', reference);
    // An audit event is indexed after about a second.
    await until('the event is in the audit trail', 60_000, async () => {
      const { code } = await runCommand(['explain', reference], rotation.env);
      return code === 0;
    });
  },
  'the application is refused': async () => {
    const answer = await fetch(`${run.api_url}/v2/me`, {
      headers: { Authorization: `Bearer ${accessToken}` },
    });
    expect(answer.status).toBe(401);
  },
};

const contentOf = async (file: string): Promise<string> =>
  (await readFile(join(folder, file), 'utf8')).trim();

/** @param file file in the session's folder with the value of ID_TOKEN_KEYS */
async function replaceToken(file: string): Promise<void> {
  const ID_TOKEN_KEYS = await contentOf(file);
  await rotation.replace('token', 0, { ID_TOKEN_KEYS, NODE_OPTIONS: STARTED_BEFORE });
  // A process records its keys shortly after it becomes ready.
  await until('the keys are recorded', 60_000, async () => {
    const { stdout } = await runCommand(['keys', 'list', '--json'], rotation.env);
    const { id_token_keys: known } = JSON.parse(stdout) as { id_token_keys: { first_seen_at: unknown }[] };
    return known.length > 0 && known.every(({ first_seen_at: seen }) => seen !== null);
  });
}

async function allowedCode(): Promise<string> {
  const url = new URL(`${run.auth_url}/auth/oauth2/authorize`);
  url.search = new URLSearchParams({
    client_id: session.get(CLIENT),
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    state: 'a-state',
  }).toString();
  return (await allow(run, url)).searchParams.get('code') ?? '';
}

async function redeem(code: string, secret = secretNow(), redirectUri = REDIRECT_URI) {
  const answer = await fetch(`${run.base_url}/api/auth/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: session.get(CLIENT),
      client_secret: secret,
    }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

const secretNow = (): string => session.newest(/^scs_/);

const sections = new Map<string, DocumentedStep[]>();
for (const step of steps) sections.set(step.section, [...(sections.get(step.section) ?? []), step]);

// The sections run in the order of the document, because each section continues with the state of the previous one.
it.each([...sections])(
  `every command of "%s" in ${DOCUMENT} prints the documented output`,
  async (_, ofSection) => {
    for (const step of ofSection) {
      if ('event' in step) {
        const happen = EVENTS[step.event];
        if (!happen) throw new Error(`line ${step.line}: no event is called ${step.event}`);
        await happen();
      } else await session.run(step);
    }
  },
);
