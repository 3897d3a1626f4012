import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { User } from '#users/user.js';
import { KeyRing } from '#keys/key-ring.js';
import { AuthorizeConfiguration } from '../../configuration/authorize.configuration.js';
import { cookieName } from '#ui/browser-cookie.js';
import { CLOCK, type Clock } from '#platform/clock.js';

const DEVICE_DAYS = 180;

/** Maximum number of accounts per browser. Few people share a browser. */
const DEVICE_ACCOUNTS = 3;

export interface KnownDevice {
  readonly id: Buffer;
  readonly proof: string;
}

/** Exempts a browser from the counters of unknown devices. The cookie grants no access, so it survives a log-out. */
@Injectable()
export class DeviceCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;
  private readonly proofs: DeviceProofs;

  constructor({ AUTH_URL }: AuthorizeConfiguration, keys: KeyRing, @Inject(CLOCK) clock: Clock) {
    const secure = AUTH_URL.startsWith('https:');
    this.name = cookieName('device', secure);
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([\\w.-]{1,400}) *(?:;|$)`);
    const lifetime = DEVICE_DAYS * 24 * 60 * 60;
    this.attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${lifetime}${secure ? '; Secure' : ''}`;
    this.proofs = new DeviceProofs(keys.keysFor('device'), clock);
  }

  /** Recognizes, without I/O, a device on which this account has logged in. */
  recognize(header: string | undefined, login: string): KnownDevice | null {
    for (const proof of this.read(header)) {
      const id = this.proofs.deviceOf(proof, login);
      if (id) return { id, proof };
    }
    return null;
  }

  /** Returns false for a device of another user who had the same name before. */
  isOf({ proof }: KnownDevice, user: User): boolean {
    return this.proofs.isOf(proof, user.id);
  }

  set(header: string | undefined, user: User): string {
    const others = this.read(header).filter(
      (proof) => this.proofs.isUnexpired(proof) && !this.proofs.isOf(proof, user.id),
    );
    const proofs = [this.proofs.issue(user), ...others].slice(0, DEVICE_ACCOUNTS);
    return `${this.name}=${proofs.join('.')}; ${this.attributes}`;
  }

  private read(header: string | undefined): string[] {
    const value = this.inHeader.exec(header ?? '')?.[1];
    return value?.split('.').slice(0, DEVICE_ACCOUNTS) ?? [];
  }
}

const ID_BYTES = 16;
const DAY_BYTES = 2;
const BODY_BYTES = ID_BYTES + DAY_BYTES;
const MAC_BYTES = 16;
const DAY = 24 * 60 * 60 * 1000;

const CLAIMS = ['email', 'username', 'user'] as const;
const PROOF_BYTES = BODY_BYTES + CLAIMS.length * MAC_BYTES;
const PROOF = new RegExp(`^[\\w-]{${(PROOF_BYTES * 4) / 3}}$`);

/**
 * `base64url(device id ‖ last day ‖ mac(e-mail) ‖ mac(username) ‖ mac(user id))`. The MACs of the names allow counting
 * before the account lookup, whose duration would reveal whether the account exists. The MAC of the user id detects a
 * name that now belongs to another user.
 */
export class DeviceProofs {
  /** @param keys MAC keys; the first key issues new proofs */
  constructor(
    private readonly keys: readonly Buffer[],
    private readonly clock: () => number,
    private readonly random: (size: number) => Buffer = randomBytes,
  ) {}

  /** Generates a new device id, so that an older, stolen proof has a separate counter. */
  issue({ id, email, username }: Pick<User, 'id' | 'email' | 'username'>): string {
    const [key] = this.keys;
    if (!key) throw new RangeError('device proofs need a key');
    const body = Buffer.alloc(BODY_BYTES);
    this.random(ID_BYTES).copy(body);
    body.writeUInt16BE(this.today() + DEVICE_DAYS, ID_BYTES);
    const macs = [mac(key, body, 'login', lower(email)), mac(key, body, 'login', lower(username))];
    return Buffer.concat([body, ...macs, mac(key, body, 'user', String(id))]).toString('base64url');
  }

  deviceOf(proof: string, login: string): Buffer | null {
    const bytes = this.unexpired(proof);
    if (!bytes) return null;
    const matchesEmail = this.claims(bytes, 'email', 'login', lower(login));
    const matchesUsername = this.claims(bytes, 'username', 'login', lower(login));
    return matchesEmail || matchesUsername ? bytes.subarray(0, ID_BYTES) : null;
  }

  isOf(proof: string, userId: number): boolean {
    const bytes = this.unexpired(proof);
    return bytes !== null && this.claims(bytes, 'user', 'user', String(userId));
  }

  /** Checks format and expiry only; `deviceOf` and `isOf` verify the MACs. */
  isUnexpired(proof: string): boolean {
    return this.unexpired(proof) !== null;
  }

  private unexpired(proof: string): Buffer | null {
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

/** The kind ends at the colon and the body has a fixed length, so the input is unambiguous. */
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
