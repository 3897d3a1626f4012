import { createHmac, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ClientType } from '#oauth/oauth-client.js';
import { DEVICE_CODE_LIFETIME, generateUserCode } from '#oauth/device-authorization.js';
import { decrypt, encrypt } from '#platform/encryption.js';
import { addressNetwork, addressSite } from '#platform/http/client-address.js';
import {
  defineScripts,
  type RedisClient,
  type RunScript,
  script,
  withRedisErrors,
} from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { COUNTERS } from './counters.js';
import { KeyRing } from '#keys/key-ring.js';

/** A device that waits for its user (RFC 8628 3.2), as shown on the page. */
export interface DeviceRequest {
  readonly grantId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly resources: string | null;
  readonly address: string | null;
}

/**
 * Limits of live codes (docs/adr/0040-device-authorization.md). A request takes 1 KB of Redis for DEVICE_CODE_LIFETIME.
 */
export const DEVICE_LIMITS = {
  all: 10_000,
  confidential: 5_000,
  /** Anyone can start requests of a public client, which has no secret. */
  public: 2_000,
  /** For public clients, per address (IPv6: per /64). A building may have this many displays. */
  address: 50,
  /** For public clients, per IPv6 /48. */
  site: 200,
} as const;

/**
 * Limits of wrong codes in DEVICE_CODE_LIFETIME (RFC 8628 5.1). Five guesses among 20^8 codes find a given code with
 * probability 2.0 · 10^-10, below 2^-32; the limit of an address is not lower than the mistakes of ten users.
 */
export const GUESS_LIMITS = {
  /** Per address (IPv6: per /48), which thousands of users may share. */
  address: 50,
  user: 5,
  /** Limit across all users; one user can reach at most 5. */
  all: 250,
} as const;

type DeviceCounter = 'all' | 'client' | 'address' | 'site';

interface StoredRequest extends DeviceRequest {
  /** Id of the form with the user's decision. Only this form finds the request again. */
  readonly answeredBy?: string;
}

export type NewUserCode =
  | { readonly outcome: 'created'; readonly userCode: string }
  | { readonly outcome: 'refused'; readonly counter: DeviceCounter; readonly retryAfter: number };

export type UserCodeLookup =
  | { readonly outcome: 'found' | 'answered'; readonly request: DeviceRequest }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'refused'; readonly counter: keyof typeof GUESS_LIMITS; readonly retryAfter: number };

/**
 * The keys are the code and its counters; the list contains a limit for each counter.
 * @returns the 1-based index of the full counter and its wait; 0 if created; -1 if the code exists
 */
const CREATE = script(
  ['id', 'value', 'ttl'],
  `${COUNTERS}
if redis.call('EXISTS', KEYS[1]) == 1 then return {-1, 0} end
local full, longest = fullest(2, #KEYS)
if full > 0 then return {full, longest} end
for i = 2, #KEYS do count(KEYS[i], id, ttl) end
redis.call('SET', KEYS[1], value, 'PX', ttl)
return {0, 0}
`,
);

/**
 * Reads a code, and counts a wrong code. While a counter is full, the result does not depend on the code. The keys are
 * three counters and the name of the code under each key of the ring; the list contains a limit for each counter.
 * @returns `{index, wait}` of the full counter (from 1), `{0, index, value}` of the matching name (from 0), or
 * `{0, -1}` for a wrong code
 */
const FIND = script(
  ['guess', 'window'],
  `${COUNTERS}
local full, longest = fullest(1, 3)
if full > 0 then return {full, longest} end
for i = 4, #KEYS do
  local value = redis.call('GET', KEYS[i])
  if value then return {0, i - 4, value} end
end
for i = 1, 3 do count(KEYS[i], guess, window) end
return {0, -1}
`,
);

const SCRIPTS = { userCodeCreate: CREATE, userCodeFind: FIND };

const LIFETIME_MS = DEVICE_CODE_LIFETIME * 1000;

/** Attempts to generate an unused code. With 10,000 live codes, one of 2.5 million new codes is already in use. */
const ATTEMPTS = 3;

/**
 * Hashes codes and encrypts requests with the codes, so that a backup reveals neither codes nor requests. Methods throw
 * DependencyUnavailableError.
 */
@Injectable()
export class UserCodeStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly keys: KeyRing,
  ) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  async create(request: DeviceRequest, type: ClientType, generate = generateUserCode): Promise<NewUserCode> {
    const [limits, key] = [this.limits(request, type), this.keys.signingKeyFor('userCode')];
    const counters = limits.map(([counter, owner]) => keyOf(counter, owner));
    const maxima = limits.map(([, , max]) => max);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const userCode = generate();
      const name = nameOf(key, userCode);
      const value = encrypt(JSON.stringify(request), encryptionOf(key, userCode));
      const values = { id: name, value, ttl: LIFETIME_MS };
      const reply = await this.run('userCodeCreate', [name, ...counters], values, maxima);
      const [full, wait] = reply as [number, number];
      if (full === 0) return { outcome: 'created', userCode };
      const limit = limits[full - 1];
      if (limit) return { outcome: 'refused', counter: limit[0], retryAfter: Math.ceil(wait / 1000) };
    }
    throw new Error(`${ATTEMPTS} new user codes exist already: the source of randomness has failed`);
  }

  /**
   * Counts wrong codes only.
   * @param userCode from `normalizeUserCode`
   * @param form id of the form with the decision, which may have been sent before
   */
  async find(
    userCode: string,
    address: string | undefined,
    userId: number,
    form: string | null = null,
  ): Promise<UserCodeLookup> {
    const keys = this.keys.keysFor('userCode');
    const counters = [
      keyOf('wrong'),
      keyOf('wrong-address', this.hashed(addressSite(address))),
      keyOf('wrong-user', String(userId)),
    ];
    const { all, address: ofAddress, user } = GUESS_LIMITS;
    const guess = randomBytes(9).toString('base64url');
    const redisKeys = [...counters, ...keys.map((key) => nameOf(key, userCode))];
    const maxima = [all, ofAddress, user];
    const reply = await this.run('userCodeFind', redisKeys, { guess, window: LIFETIME_MS }, maxima);
    const [full, waitOrIndex, value] = reply as [number, number, string?];
    const counter = (['all', 'address', 'user'] as const)[full - 1];
    if (counter) return { outcome: 'refused', counter, retryAfter: Math.ceil(waitOrIndex / 1000) };
    const key = keys[waitOrIndex];
    const text = key && value !== undefined ? decrypt(value, encryptionOf(key, userCode)) : null;
    if (text === null) return { outcome: 'unknown' };
    const { answeredBy = form, ...request } = JSON.parse(text) as StoredRequest;
    return { outcome: answeredBy === form ? 'found' : 'answered', request };
  }

  /** Records that the user has decided. @param form id of the form; null if no form may find the request again */
  async answer(
    userCode: string,
    { grantId, clientId, scope, resources, address }: DeviceRequest,
    form: string | null,
  ): Promise<void> {
    const answered: StoredRequest = { grantId, clientId, scope, resources, address, answeredBy: form ?? '' };
    const stored = this.keys.keysFor('userCode').map((key) => {
      const value = encrypt(JSON.stringify(answered), encryptionOf(key, userCode));
      return withRedisErrors(this.redis.set(nameOf(key, userCode), value, 'KEEPTTL', 'XX'));
    });
    await Promise.all(stored);
  }

  private limits(
    { clientId, address }: DeviceRequest,
    type: ClientType,
  ): (readonly [DeviceCounter, string, number])[] {
    const limits: (readonly [DeviceCounter, string, number])[] = [
      ['all', '', DEVICE_LIMITS.all],
      ['client', clientId, DEVICE_LIMITS[type]],
    ];
    if (type === 'confidential') return limits;
    const [network, site] = [addressNetwork(address ?? undefined), addressSite(address ?? undefined)];
    limits.push(['address', this.hashed(network), DEVICE_LIMITS.address]);
    if (site !== network) limits.push(['site', this.hashed(site), DEVICE_LIMITS.site]);
    return limits;
  }

  /** Hashes a network, so that Redis does not store plain addresses. */
  private hashed(network: string): string {
    return createHmac('sha256', this.keys.signingKeyFor('throttle'))
      .update(`device:${network}`)
      .digest('base64url');
  }
}

function nameOf(key: Buffer, userCode: string): string {
  return keyOf('code', createHmac('sha256', key).update(userCode).digest('base64url'));
}

function encryptionOf(key: Buffer, userCode: string): { secret: string; purpose: string } {
  const secret = createHmac('sha256', key).update(`value of ${userCode}`).digest('base64url');
  return { secret, purpose: 'device authorization' };
}

function keyOf(kind: string, owner = ''): string {
  return `{device}:${kind}${owner === '' ? '' : `:${owner}`}`;
}
