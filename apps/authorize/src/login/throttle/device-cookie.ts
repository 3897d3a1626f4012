import { Inject, Injectable } from '@nestjs/common';
import { KeyRing } from '#grants/key-ring.js';
import type { User } from '#database/user/user.js';
import { AuthorizeConfiguration } from '../../authorize.configuration.js';
import { CLOCK, type Clock } from '../../clock.js';
import { DeviceProofs } from './device-proof.js';
import { DEVICE_ACCOUNTS, DEVICE_DAYS } from './throttle-limits.js';

/** A device that an account logged in on before. */
export interface KnownDevice {
  readonly id: Buffer;
  readonly proof: string;
}

/**
 * The cookie that lets a browser try where others have to wait: proofs of the accounts that logged in with it, newest
 * first. It opens nothing, so it stays when its owner logs out.
 */
@Injectable()
export class DeviceCookie {
  private readonly name: string;
  private readonly attributes: string;
  private readonly inHeader: RegExp;
  private readonly proofs: DeviceProofs;

  constructor({ AUTH_URL, TOKEN_KEYS }: AuthorizeConfiguration, @Inject(CLOCK) clock: Clock) {
    const secure = AUTH_URL.startsWith('https:');
    // The prefix keeps other hosts of the same domain from planting it (RFC 6265bis 4.1.3.2).
    this.name = secure ? '__Host-device' : 'device';
    this.inHeader = new RegExp(`(?:^|;) *${this.name}=([\\w.-]{1,400}) *(?:;|$)`);
    const lifetime = DEVICE_DAYS * 24 * 60 * 60;
    this.attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${lifetime}${secure ? '; Secure' : ''}`;
    this.proofs = new DeviceProofs(KeyRing.parse(TOKEN_KEYS).deviceKeys, clock);
  }

  /** The device, when it is known to the account that a login names. No I/O. */
  recognise(header: string | undefined, login: string): KnownDevice | null {
    for (const proof of this.read(header)) {
      const id = this.proofs.deviceOf(proof, login);
      if (id) return { id, proof };
    }
    return null;
  }

  /** Whether it was this user who logged in on the device, and not one who had the same name before. */
  isOf({ proof }: KnownDevice, user: User): boolean {
    return this.proofs.isOf(proof, user.id);
  }

  /** The Set-Cookie header after a login: the user's new proof, then those of others that logged in before. */
  give(header: string | undefined, user: User): string {
    const others = this.read(header).filter(
      (proof) => this.proofs.isCurrent(proof) && !this.proofs.isOf(proof, user.id),
    );
    const proofs = [this.proofs.issue(user), ...others].slice(0, DEVICE_ACCOUNTS);
    return `${this.name}=${proofs.join('.')}; ${this.attributes}`;
  }

  private read(header: string | undefined): string[] {
    const value = this.inHeader.exec(header ?? '')?.[1];
    return value?.split('.').slice(0, DEVICE_ACCOUNTS) ?? [];
  }
}
