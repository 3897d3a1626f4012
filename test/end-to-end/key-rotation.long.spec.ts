import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { generateIdTokenKeys, publicIdTokenKeys } from '#oauth/openid/signing-keys.js';
import { ClientStore } from '#clients/client.store.js';
import { runOperator } from '../../apps/operator/test/support/run-operator.js';
import { type AppProcess, startApp } from '../support/app-process.js';
import { until } from '../support/until.js';
import { openRotation, type Rotation, STARTED_BEFORE } from './rotation.js';
import { allow, type Answer, ProductUser, register, withStores } from './running-product.js';

const CALLBACK = 'http://localhost:1/callback';

let rotation: Rotation;
let resource: AppProcess | undefined;
let user: ProductUser;
let account: { email: string; password: string };
let application: { client_id: string; client_secret: string };
let first: Keys;

/** Unexpected responses, the first of which ends the load. */
const refused: unknown[] = [];
const KINDS = ['login', 'refresh', 'me'] as const;
type Kind = (typeof KINDS)[number];
/** More than the number of connections that `fetch` keeps open to one process, because all of them may be closed. */
const ATTEMPTS = 20;
const load = {
  done: { login: 0, refresh: 0, me: 0 },
  /** Longer while a process starts. */
  pauseMs: 500,
  begun: false,
  ends: false,
  kids: new Set<string>(),
};

beforeAll(async () => {
  rotation = await openRotation();
  first = { token: randomBytes(32).toString('base64url'), idToken: await generateIdTokenKeys() };
  await rollOut(first);
  resource = await startApp('resource', rotation.env);
  const urls = { ...rotation.env, API_URL: resource.url };
  const run = await register(urls.DATABASE_URL, urls, CALLBACK);
  ({ user: account } = run);
  user = new ProductUser(run);
  const { secret, hash } = generateClientSecret();
  const { clientId } = await withStores(urls.DATABASE_URL, (stores) =>
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
  await resource?.stop();
  await rotation?.close();
});

interface Keys {
  readonly token: string;
  readonly idToken: string;
}

/**
 * Replaces a process of token, the process of authorize, and the other process of token, so that each ring of token
 * gets codes of each ring of authorize.
 * @param settings more variables of the processes
 * @param halfway called after the first process was replaced
 */
async function rollOut(
  { token, idToken }: Keys,
  settings: Record<string, string> = {},
  halfway: () => Promise<void> = async () => undefined,
): Promise<void> {
  const env = { ...settings, TOKEN_KEYS: token };
  await rotation.replace('token', 0, { ...env, ID_TOKEN_KEYS: idToken });
  await halfway();
  await loadGoesOn();
  await rotation.replace('authorize', 0, { ...env, ID_TOKEN_KEYS: publicIdTokenKeys(idToken) });
  await loadGoesOn();
  await rotation.replace('token', 1, { ...env, ID_TOKEN_KEYS: idToken });
  await loadGoesOn();
}

/** Waits for two more of each kind of request. */
async function loadGoesOn(): Promise<void> {
  if (!load.begun) return;
  const before = { ...load.done };
  load.pauseMs = 50;
  await until('the load has gone on', 120_000, () => {
    if (refused.length > 0) return true;
    return KINDS.every((kind) => load.done[kind] >= before[kind] + 2);
  });
  load.pauseMs = 500;
  expect(refused).toEqual([]);
}

function expectOk(kind: Kind, { status, body }: Answer): Answer['body'] {
  load.done[kind] += 1;
  if (status === 200) return body;
  refused.push({ kind, status, body });
  load.ends = true;
  return body;
}

/**
 * Retries after a closed connection, as HTTP libraries and proxies do. A stopping process may close a connection
 * while a request is being sent.
 */
async function delivered<Result>(send: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      const isClosed = /ECONNRESET|fetch failed|socket hang up|other side closed/;
      if (!isClosed.test(inspect(error, { depth: 4 })) || attempt === ATTEMPTS) throw error;
      await sleep(load.pauseMs);
    }
  }
}

async function exchange(): Promise<Answer['body']> {
  const { status, body } = await delivered(async () => user.redeem(await user.code()));
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
}

async function me(token: unknown): Promise<void> {
  expectOk('me', await delivered(() => user.me(token)));
}

/** Refreshes one grant repeatedly. Uses both the new and the previous access token. */
async function keepRefreshing(): Promise<void> {
  let pair = await exchange();
  for (; !load.ends; await sleep(load.pauseMs)) {
    const last = pair;
    pair = expectOk('refresh', await delivered(() => user.refresh(last['refresh_token'])));
    await Promise.all([me(pair['access_token']), me(last['access_token'])]);
  }
}

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

/**
 * Exchanges a code, refreshes and revokes, so that the account stays below the limit of live grants.
 * @returns the key ids of two ID tokens, which both libraries have verified
 */
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
  const callback = await allow({ user: account }, url);
  const tokens = await openid.authorizationCodeGrant(configuration, callback, checks);
  const refreshed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
  const kids: string[] = [];
  for (const { id_token } of [tokens, refreshed]) {
    const { protectedHeader } = await jwtVerify(id_token ?? '', keys, { audience: application.client_id });
    kids.push(protectedHeader.kid ?? '');
  }
  await openid.tokenRevocation(configuration, refreshed.refresh_token ?? '');
  return kids;
}

/** Replaced when libraries would have fetched the keys again. */
let party: RelyingParty;

async function keepLoggingIn(): Promise<void> {
  for (; !load.ends; await sleep(load.pauseMs)) {
    for (const kid of await delivered(() => logIn(party))) load.kids.add(kid);
    load.done.login += 1;
  }
}

const nextTokenKeys = (present: string, ...args: string[]) =>
  rotation.nextStep<{ readonly step: number; readonly token_keys: string }>(present, ...args);

const nextIdTokenKeys = (present: string) =>
  rotation.nextStep<{ readonly step: number; readonly keys: string[]; readonly id_token_keys: string }>(
    present,
    '--id-token',
  );

async function expectRefusal(reason: string | RegExp, present: string, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await rotation.keysNext(present, ...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(reason);
}

it('the product rejects no request and no older token during two rotations of TOKEN_KEYS and one of ID_TOKEN_KEYS', async () => {
  // The first key signs these tokens, which are not used until both rotations are over.
  const kept = await exchange();
  party = await relyingParty();
  load.begun = true;
  const actors = [keepLoggingIn(), keepRefreshing(), keepRefreshing()];
  const ended = Promise.all(actors).catch((error: unknown) => refused.push(inspect(error, { depth: 4 })));
  await loadGoesOn();
  const [oldKid = ''] = load.kids;

  const [added, published] = [await nextTokenKeys(first.token), await nextIdTokenKeys(first.idToken)];
  const both = { token: added.token_keys, idToken: published.id_token_keys };
  // The other processes do not have the new key yet.
  const early = () => expectRefusal('still has another value of TOKEN_KEYS', both.token);
  await rollOut(both, {}, early);
  await expectRefusal('published the new key for less than 360 s', both.idToken, '--id-token');

  const signing = await nextTokenKeys(both.token);
  await rollOut({ ...both, token: signing.token_keys }, { NODE_OPTIONS: STARTED_BEFORE });
  // Both libraries would have fetched the keys again after six minutes.
  party = await relyingParty();
  await loadGoesOn();
  expect([...load.kids]).toEqual([oldKid]);

  const addedAgain = await nextTokenKeys(signing.token_keys, '--begin');
  const idSigning = await nextIdTokenKeys(both.idToken);
  await rollOut({ token: addedAgain.token_keys, idToken: idSigning.id_token_keys }, {}, () =>
    expectRefusal('still has another value of TOKEN_KEYS', addedAgain.token_keys),
  );
  expect([...load.kids]).toEqual([oldKid, published.keys[0]]);

  const last = await nextTokenKeys(addedAgain.token_keys);
  await rollOut({ token: last.token_keys, idToken: idSigning.id_token_keys });
  expect(last.token_keys.split(',')).toHaveLength(3);

  // Live tokens may still need the older keys.
  await expectRefusal('live tokens may need', last.token_keys);
  await expectRefusal(oldKid, idSigning.id_token_keys, '--id-token');
  await me(kept['access_token']);
  expectOk('refresh', await delivered(() => user.refresh(kept['refresh_token'])));
  await rotation.database.query(
    `UPDATE token_keys SET needed_until = now()
     WHERE last_signed_at < (SELECT max(last_signed_at) FROM token_keys newest WHERE newest.ring = token_keys.ring)`,
  );
  const removal = await nextTokenKeys(last.token_keys);
  const idRemoval = await nextIdTokenKeys(idSigning.id_token_keys);
  expect([added, signing, addedAgain, last, removal].map(({ step }) => step)).toEqual([1, 2, 1, 2, 3]);
  expect([published, idSigning, idRemoval].map(({ step }) => step)).toEqual([1, 2, 3]);
  expect(removal.token_keys).toBe(last.token_keys.split(',')[0]);
  party = await relyingParty();
  await rollOut({ token: removal.token_keys, idToken: idRemoval.id_token_keys });

  load.ends = true;
  await ended;
  expect(refused).toEqual([]);
  const listed = JSON.parse((await runOperator(['keys', 'list', '--json'], rotation.env)).stdout) as {
    id_token_keys: { id: string; missing_in: string[] }[];
  };
  expect(listed).toMatchObject({ keys: [{ missing_in: [] }], problems: [] });
  expect(listed.id_token_keys.map(({ id }) => id)).not.toContain(oldKid);
  expect(listed.id_token_keys.flatMap(({ missing_in: missing }) => missing)).toEqual([]);
}, 600_000);
