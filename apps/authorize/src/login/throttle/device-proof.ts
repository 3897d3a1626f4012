import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { User } from '#database/user/user.js';
import { DEVICE_DAYS } from './throttle-limits.js';

const ID_BYTES = 16;
const DAY_BYTES = 2;
const BODY_BYTES = ID_BYTES + DAY_BYTES;
const MAC_BYTES = 16;
const DAY = 24 * 60 * 60 * 1000;

/** What the MACs say of the device, in the order in which they stand. */
const CLAIMS = ['email', 'username', 'user'] as const;
const PROOF_BYTES = BODY_BYTES + CLAIMS.length * MAC_BYTES;
const PROOF = new RegExp(`^[\\w-]{${(PROOF_BYTES * 4) / 3}}$`);

/**
 * Proofs that an account logged in on a device:
 * `base64url(device id ‖ last day ‖ mac(e-mail) ‖ mac(username) ‖ mac(user id))`.
 *
 * They say nothing to who lacks the key. The login as typed is proved by itself, so that a try can be counted before
 * the account is looked up: a try that is refused must take as long whether there is such an account or not. The user
 * id is proved as well, since a name may be given to somebody else.
 */
export class DeviceProofs {
  /**
   * @param keys MAC keys, the first for new proofs
   * @param clock milliseconds since the epoch
   */
  constructor(
    private readonly keys: readonly Buffer[],
    private readonly clock: () => number,
    private readonly random: (size: number) => Buffer = randomBytes,
  ) {}

  /** A proof under a new device id: one that was stolen from the device before shares no counter with it. */
  issue({ id, email, username }: Pick<User, 'id' | 'email' | 'username'>): string {
    const [key] = this.keys;
    if (!key) throw new RangeError('device proofs need a key');
    const body = Buffer.alloc(BODY_BYTES);
    this.random(ID_BYTES).copy(body);
    body.writeUInt16BE(this.today() + DEVICE_DAYS, ID_BYTES);
    const macs = [mac(key, body, 'login', lower(email)), mac(key, body, 'login', lower(username))];
    return Buffer.concat([body, ...macs, mac(key, body, 'user', String(id))]).toString('base64url');
  }

  /** The device's id when the proof is for the account that a login names; else null. */
  deviceOf(proof: string, login: string): Buffer | null {
    const bytes = this.current(proof);
    if (!bytes) return null;
    const proved = this.claims(bytes, 'email', 'login', lower(login));
    const provedToo = this.claims(bytes, 'username', 'login', lower(login));
    return proved || provedToo ? bytes.subarray(0, ID_BYTES) : null;
  }

  /** Whether the proof is that user's. */
  isOf(proof: string, userId: number): boolean {
    const bytes = this.current(proof);
    return bytes !== null && this.claims(bytes, 'user', 'user', String(userId));
  }

  /** Whether it has a proof's form and its last day has not passed; only `deviceOf` and `isOf` tell what it is worth. */
  isCurrent(proof: string): boolean {
    return this.current(proof) !== null;
  }

  private current(proof: string): Buffer | null {
    if (!PROOF.test(proof)) return null;
    const bytes = Buffer.from(proof, 'base64url');
    return bytes.readUInt16BE(ID_BYTES) >= this.today() ? bytes : null;
  }

  private claims(
    bytes: Buffer,
    claim: (typeof CLAIMS)[number],
    kind: 'login' | 'user',
    value: string,
  ): boolean {
    const at = BODY_BYTES + CLAIMS.indexOf(claim) * MAC_BYTES;
    const presented = bytes.subarray(at, at + MAC_BYTES);
    const body = bytes.subarray(0, BODY_BYTES);
    return this.keys.some((key) => timingSafeEqual(mac(key, body, kind, value), presented));
  }

  private today(): number {
    return Math.floor(this.clock() / DAY);
  }
}

/** Kind and body have lengths of their own, so that what is hashed has one reading. */
function mac(key: Buffer, body: Buffer, kind: 'login' | 'user', value: string): Buffer {
  return createHmac('sha256', key)
    .update(`${kind}:`)
    .update(body)
    .update(value)
    .digest()
    .subarray(0, MAC_BYTES);
}

function lower(login: string): string {
  return login.trim().toLowerCase();
}
