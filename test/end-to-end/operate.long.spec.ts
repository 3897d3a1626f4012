import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { withDatabase } from '../support/test-database.js';
import '../support/built.js';
import { until } from '../support/until.js';
import { allow } from './running-product.js';
import { DocumentedSession, documentedCommands, type DocumentedStep } from './documented-session.js';
import { isolatedEnvironment, type Run, StartedProduct } from './started-product.js';

const DOCUMENT = 'docs/operate.md';
const OPERATOR = `operator() { '${process.execPath}' '${resolve('dist/apps/operator.cjs')}' "$@"; }`;
const CLIENT = 'sc_lhzvn2l7x6iosah5cpowvxtw';
const REDIRECT_URI = 'https://rooms.example.com/callback';

const steps = documentedCommands(await readFile(DOCUMENT, 'utf8'));
let folder: string;
let product: StartedProduct;
let run: Run;
let session: DocumentedSession;
let accessToken: string;
let environment: { LOCAL_DIR: string };

beforeAll(async () => {
  const isolated = await isolatedEnvironment();
  environment = isolated;
  product = new StartedProduct(isolated);
  run = await product.ready();
  folder = await mkdtemp(join(tmpdir(), 'operate-'));
  session = new DocumentedSession(OPERATOR, folder, {
    PATH: process.env.PATH,
    LOCAL_DIR: isolated.LOCAL_DIR,
    OPERATOR_NAME: 'grace',
  });
  session.set('https://auth.example.com', run.auth_url);
  session.set('https://api.example.com', run.base_url);
  // The document's ada is a user without a role, so commands that disable her do not ask.
  const { code } = await session.shell('operator console revoke ada@example.com --yes');
  expect(code).toBe(0);
});

afterAll(async () => {
  await product?.kill('SIGTERM');
  await rm(environment.LOCAL_DIR, { recursive: true });
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
  'current-keys has the keys': async () => {
    const keys = await readFile(join(environment.LOCAL_DIR, 'token-keys'), 'utf8');
    await writeFile(join(folder, 'current-keys'), keys);
  },
  'current-id-keys has the keys of ID tokens': async () => {
    await cp(join(environment.LOCAL_DIR, 'id-token-keys'), join(folder, 'current-id-keys'));
  },
  'token and authorize have next-id-keys for six minutes': () => restartWithKeys('next-id-keys'),
  'token has signing-id-keys': () => restartWithKeys('signing-id-keys'),
  'the ID tokens of the old key have expired': async () => {
    await withDatabase(run.database_url, (client) =>
      client.query(
        `UPDATE oauth.token_keys SET needed_until = now() WHERE ring = 'RS256'
           AND last_signed_at < (SELECT max(last_signed_at) FROM oauth.token_keys WHERE ring = 'RS256')`,
      ),
    );
  },
  'the application sends a wrong redirect URI': async () => {
    const { status, body } = await redeem(await allowedCode(), secretNow(), `${REDIRECT_URI}/`);
    expect(status).toBe(400);
    const reference = body['error_reference'] ?? '';
    session.set('t3ib0_DJFYhc', reference);
    // An audit event is indexed after about a second.
    await until('the event is in the audit trail', 60_000, async () => {
      const { code } = await session.shell(`operator explain ${reference}`);
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

/** Sets the start of each process to six minutes ago, so that the test does not have to wait. */
const STARTED_BEFORE = `data:text/javascript,Object.defineProperty(performance,'timeOrigin',{value:performance.timeOrigin-360_000})`;

/** @param file file in the session's folder with the value of ID_TOKEN_KEYS */
async function restartWithKeys(file: string): Promise<void> {
  await product.kill('SIGTERM');
  const keys = await readFile(join(folder, file), 'utf8');
  await writeFile(join(environment.LOCAL_DIR, 'id-token-keys'), keys.trim());
  product = new StartedProduct({
    ...environment,
    NODE_OPTIONS: `--import=${STARTED_BEFORE}`,
  });
  run = await product.ready();
  // A process records its keys shortly after it becomes ready.
  await until('the keys are recorded', 60_000, async () => {
    const { stdout } = await session.shell('operator keys list --json');
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
