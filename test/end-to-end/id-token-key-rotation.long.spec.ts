import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { generateIdTokenKeys, publicIdTokenKeys } from '#oauth/openid/signing-keys.js';
import { ClientStore } from '#clients/client.store.js';
import { runOperator } from '../../apps/operator/test/support/run-operator.js';
import { until } from '../support/until.js';
import { openRotation, type RotatedApp, type Rotation } from './rotation.js';
import { allow, register, withStores } from './running-product.js';

const CALLBACK = 'http://localhost:1/callback';
const KID = /[\w-]{43}/;

let rotation: Rotation;
let user: { email: string; password: string };
let application: { client_id: string; client_secret: string };

beforeAll(async () => {
  rotation = await openRotation({ TOKEN_KEYS: randomBytes(32).toString('base64url') });
  const { DATABASE_URL: databaseUrl } = rotation.env;
  ({ user } = await register(databaseUrl, rotation.env, CALLBACK));
  const { secret, hash } = generateClientSecret();
  const { clientId } = await withStores(databaseUrl, (stores) =>
    stores.get(ClientStore).create({
      name: 'Room Finder',
      type: 'confidential',
      scopes: ['openid'],
      redirectUris: [CALLBACK],
      secretHash: hash,
    }),
  );
  application = { client_id: clientId, client_secret: secret };
});

afterAll(async () => {
  load.ends = true;
  await rotation?.close();
});

/** Application with two libraries, each of which caches the published keys. */
interface RelyingParty {
  readonly configuration: openid.Configuration;
  readonly keys: JWTVerifyGetKey;
}

async function relyingParty(): Promise<RelyingParty> {
  const { client_id, client_secret } = application;
  const issuer = new URL(rotation.env.BASE_URL);
  const options = { execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks] };
  const configuration = await openid.discovery(issuer, client_id, client_secret, undefined, options);
  const keys = createRemoteJWKSet(new URL(configuration.serverMetadata().jwks_uri ?? ''));
  return { configuration, keys };
}

/** Returns the key ids of two ID tokens, which both libraries have verified. */
async function logIn({ configuration, keys }: RelyingParty): Promise<string[]> {
  const checks = {
    pkceCodeVerifier: openid.randomPKCECodeVerifier(),
    expectedState: openid.randomState(),
    expectedNonce: openid.randomNonce(),
  };
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: CALLBACK,
    scope: 'openid',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await openid.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const tokens = await openid.authorizationCodeGrant(configuration, await allow({ user }, url), checks);
  const refreshed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
  const kids: string[] = [];
  for (const { id_token } of [tokens, refreshed]) {
    const { protectedHeader } = await jwtVerify(id_token ?? '', keys, { audience: application.client_id });
    kids.push(protectedHeader.kid ?? '');
  }
  await openid.tokenRevocation(configuration, refreshed.refresh_token ?? '');
  return kids;
}

const load = { logins: 0, ends: false, kids: new Set<string>(), refused: [] as string[] };
/** Replaced when libraries would have fetched the keys again. */
let party: RelyingParty;

/** Pauses between logins, so that the processes that replace others start quickly. */
async function keepLoggingIn(): Promise<void> {
  for (; !load.ends; await sleep(100))
    try {
      for (const kid of await logIn(party)) load.kids.add(kid);
      load.logins += 1;
    } catch (error) {
      // A stopping process may close a connection while a request is being sent.
      const text = inspect(error, { depth: 4 });
      if (!/ECONNRESET|fetch failed|socket hang up|other side closed/.test(text)) load.refused.push(text);
      if (load.refused.length > 0) return;
    }
}

async function moreLogins(count: number): Promise<void> {
  const before = load.logins;
  await until('more logins', 120_000, () => load.refused.length > 0 || load.logins >= before + count);
  expect(load.refused).toEqual([]);
}

async function rollOut(name: RotatedApp, keys: string, settings: Record<string, string> = {}): Promise<void> {
  const ID_TOKEN_KEYS = name === 'token' ? keys : publicIdTokenKeys(keys);
  for (let at = 0; at < 2; at += 1) {
    await rotation.replace(name, at, { ...settings, ID_TOKEN_KEYS });
    if (load.logins > 0) await moreLogins(2);
  }
}

interface Step {
  readonly step: number;
  readonly keys: string[];
  readonly id_token_keys: string;
}

const keysNext = (present: string) => rotation.keysNext(present, '--id-token');
const nextStep = (present: string) => rotation.nextStep<Step>(present, '--id-token');

/** Sets the start of a process to six minutes ago, so that the test does not have to wait. */
const STARTED_BEFORE = `--import=data:text/javascript,Object.defineProperty(performance,'timeOrigin',{value:performance.timeOrigin-360_000})`;

it('libraries accept every ID token during a key rotation', async () => {
  const first = await generateIdTokenKeys();
  await Promise.all([rollOut('token', first), rollOut('authorize', first)]);
  party = await relyingParty();
  const logins = keepLoggingIn();
  await moreLogins(2);
  const [oldKid = ''] = load.kids;

  const added = await nextStep(first);
  await rollOut('token', added.id_token_keys);
  await rollOut('authorize', added.id_token_keys);
  const early = await keysNext(added.id_token_keys);
  expect([early.code, early.stderr]).toEqual([
    1,
    expect.stringMatching(/published the new key for less than 360 s/),
  ]);
  await rollOut('token', added.id_token_keys, { NODE_OPTIONS: STARTED_BEFORE });
  // Both libraries would have fetched the keys again after six minutes.
  party = await relyingParty();
  await moreLogins(2);
  expect([...load.kids]).toEqual([oldKid]);

  const signing = await nextStep(added.id_token_keys);
  await rollOut('token', signing.id_token_keys);
  await moreLogins(2);
  expect([...load.kids]).toEqual([oldKid, added.keys[0]]);
  const tooEarly = await keysNext(signing.id_token_keys);
  expect([tooEarly.code, tooEarly.stderr]).toEqual([1, expect.stringMatching(oldKid)]);

  party = await relyingParty();
  await rotation.database.query('UPDATE token_keys SET needed_until = now() WHERE id = $1', [oldKid]);
  const removal = await nextStep(signing.id_token_keys);
  expect([added.step, signing.step, removal.step]).toEqual([1, 2, 3]);
  await rollOut('token', removal.id_token_keys);
  await rollOut('authorize', removal.id_token_keys);
  await moreLogins(2);

  load.ends = true;
  await logins;
  expect(load.refused).toEqual([]);
  expect(oldKid).toMatch(KID);
  const listed = JSON.parse((await runOperator(['keys', 'list', '--json'], rotation.env)).stdout) as {
    id_token_keys: { id: string; missing_in: string[] }[];
    problems: unknown[];
  };
  expect(listed.problems).toEqual([]);
  expect(listed.id_token_keys.map(({ id }) => id)).not.toContain(oldKid);
  expect(listed.id_token_keys.flatMap(({ missing_in: missing }) => missing)).toEqual([]);
}, 600_000);
