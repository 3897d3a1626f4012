import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { RecordedKey } from '#keys/token-key.store.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { nextIdTokenStep } from '#keys/operations/id-token-rotation.js';
import { UnsafeStepError } from '#keys/operations/rotation.js';
import { described } from './support/described.js';

const NOW = new Date('2026-11-22T12:00:00Z');
const [PAST, FUTURE] = [new Date('2026-11-22T11:59:59Z'), new Date('2026-11-22T13:30:00Z')];
const rsa = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const [OLD, NEW, EC, NEW_EC] = [rsa(), rsa(), ec(), ec()];

const valueOf = (...keys: KeyObject[]): string =>
  JSON.stringify({ keys: keys.map((key) => key.export({ format: 'jwk' })) });
/** SigningKeys requires an RSA key in every ring. */
const idOf = (key: KeyObject): string =>
  SigningKeys.parse(valueOf(key, key === OLD ? NEW : OLD)).ids[0]?.id ?? '';
const namesOf = (value: string): string[] =>
  (JSON.parse(value) as { keys: JsonWebKey[] }).keys.map((jwk) => {
    const key = createPrivateKey({ key: jwk, format: 'jwk' });
    return Object.entries({ OLD, NEW, EC, NEW_EC }).find(([, known]) => known.equals(key))?.[0] ?? 'unknown';
  });

function processOf(
  service: string,
  keys: KeyObject[],
  { instance = 'host:1', ageS = 360 } = {},
): ServiceStatus {
  return {
    service,
    instance,
    version: '0.1.0',
    started_at: new Date(Number(NOW) - ageS * 1000).toISOString(),
    time: NOW.toISOString(),
    id_token_keys: SigningKeys.parse(valueOf(...keys)).roles,
  };
}
const everywhere = (...keys: KeyObject[]): ServiceStatus[] => [
  processOf('authorize', keys, { ageS: 0 }),
  processOf('token', keys),
];

const recorded = (key: KeyObject, neededUntil: Date | null): RecordedKey => ({
  id: idOf(key),
  ring: key === EC || key === NEW_EC ? 'ES256' : 'RS256',
  firstSeenAt: PAST,
  lastSignedAt: neededUntil && PAST,
  neededUntil,
});

const next = (
  keys: KeyObject[],
  records: readonly RecordedKey[],
  {
    statuses = everywhere(...keys),
    begin = false,
    alg,
  }: {
    statuses?: ServiceStatus[];
    begin?: boolean;
    alg?: 'RS256' | 'ES256' | 'EdDSA';
  } = {},
) =>
  nextIdTokenStep({
    idTokenKeys: valueOf(...keys),
    alg,
    begin,
    statuses,
    records,
    now: NOW,
    newKey: (wanted) => Promise.resolve(wanted === 'RS256' ? NEW : NEW_EC),
  }).catch((error: unknown) => {
    throw described(error);
  });

describe('the next step of a rotation of ID token keys', () => {
  it('appends a new RSA key, which does not sign', async () => {
    const step = await next([OLD, EC], [recorded(OLD, FUTURE), recorded(EC, FUTURE)]);
    expect(step).toMatchObject({ step: 1, action: 'add', alg: 'RS256', keys: [idOf(NEW)] });
    expect(namesOf(step.idTokenKeys)).toEqual(['OLD', 'EC', 'NEW']);
    const signing = SigningKeys.parse(step.idTokenKeys).roles.filter(({ role }) => role === 'signing');
    expect(signing.map(({ id }) => id)).toEqual([idOf(OLD), idOf(EC)]);
  });

  it('appends a key of another algorithm if requested', async () => {
    const step = await next([OLD, EC], [recorded(OLD, FUTURE), recorded(EC, FUTURE)], { alg: 'ES256' });
    expect([step.alg, namesOf(step.idTokenKeys)]).toEqual(['ES256', ['OLD', 'EC', 'NEW_EC']]);
  });

  it('moves the published key before the old key of the same algorithm', async () => {
    const records = [recorded(OLD, FUTURE), recorded(EC, FUTURE), recorded(NEW_EC, null)];
    const step = await next([OLD, EC, NEW_EC], records);
    expect(step).toMatchObject({ step: 2, action: 'sign', alg: 'ES256', keys: [idOf(NEW_EC)] });
    expect(namesOf(step.idTokenKeys)).toEqual(['NEW_EC', 'EC', 'OLD']);
  });

  it('removes the old key when its ID tokens have expired', async () => {
    const step = await next([NEW, OLD, EC], [recorded(NEW, FUTURE), recorded(OLD, PAST)]);
    expect(step).toMatchObject({ step: 3, action: 'remove', keys: [idOf(OLD)] });
    expect(namesOf(step.idTokenKeys).toSorted()).toEqual(['EC', 'NEW']);
  });

  it('begins another rotation early only with `begin`', async () => {
    const records = [recorded(NEW_EC, FUTURE), recorded(EC, FUTURE)];
    const keys = [OLD, NEW_EC, EC];
    await expect(next(keys, records)).rejects.toThrow(`${idOf(EC)} until ${FUTURE.toISOString()}`);
    expect(
      await next(keys, [...records, recorded(OLD, FUTURE)], { begin: true, alg: 'RS256' }),
    ).toMatchObject({
      step: 1,
    });
  });

  const keys = [OLD, NEW];
  const records = [recorded(OLD, FUTURE), recorded(NEW, null)];
  it.each([
    [
      'a token process has published the new key for 359 s',
      [...everywhere(...keys), processOf('token', keys, { instance: 'host:9', ageS: 359 })],
      /token host:9 has published .* less than 360 s.* again in 1 s/,
    ],
    [
      'a token process lacks the new key',
      [...everywhere(...keys), processOf('token', [OLD], { instance: 'host:9' })],
      /token host:9 still/,
    ],
    [
      'a token process has the keys in another order',
      [...everywhere(...keys), processOf('token', [NEW, OLD], { instance: 'host:9' })],
      /token host:9 still/,
    ],
    [
      'authorize lacks the new key',
      [processOf('authorize', [OLD]), processOf('token', keys)],
      /authorize host:1 still/,
    ],
    ['no authorize app answers', [processOf('token', keys)], /no process of authorize answers/],
    ['no token app answers', [processOf('authorize', keys)], /no process of token answers/],
  ])('is refused while %s', async (_, statuses, reason) => {
    const refused = next(keys, records, { statuses });
    await expect(refused).rejects.toThrow(UnsafeStepError);
    await expect(refused).rejects.toThrow(reason);
  });

  it('is refused for an unrecorded key, which may have signed', async () => {
    await expect(next(keys, [recorded(OLD, FUTURE)])).rejects.toThrow(/no process has recorded key/);
  });

  it('is refused for an algorithm without a key, because the new key would sign immediately', async () => {
    await expect(next([OLD], [recorded(OLD, FUTURE)], { alg: 'EdDSA' })).rejects.toThrow(/no key of EdDSA/);
  });
});
