import { createHmac, timingSafeEqual } from 'node:crypto';

/** A nonce is given out for this long, and taken for as long again. */
const WINDOW_MS = 5 * 60 * 1000;
const WINDOW_BYTES = 6;
const MAC_BYTES = 18;
const NONCE = /^[\w-]{32}$/;

/**
 * Server-provided nonces (RFC 9449 8): number of the five-minute window ‖ its HMAC. Every copy of the app gives and
 * takes the same ones, with nothing stored.
 */
export class DpopNonce {
  private latest: { readonly window: number; readonly nonce: string } | undefined;

  /**
   * @param keys MAC keys, the first for new nonces
   * @param clock milliseconds since the epoch
   */
  constructor(
    private readonly keys: readonly Buffer[],
    private readonly clock: () => number,
  ) {}

  /** The nonce for a client's next proof. */
  current(): string {
    const window = this.window();
    if (this.latest?.window !== window) this.latest = { window, nonce: this.nonces(window)[0] ?? '' };
    return this.latest.nonce;
  }

  /** Whether a nonce is one of this window or the one before. */
  accepts(nonce: string): boolean {
    if (!NONCE.test(nonce)) return false;
    const bytes = Buffer.from(nonce, 'base64url');
    const window = bytes.readUIntBE(0, WINDOW_BYTES);
    // Another copy's clock may have entered the next window before this one's.
    if (Math.abs(window - this.window()) > 1) return false;
    return this.nonces(window).some((ours) => timingSafeEqual(Buffer.from(ours, 'base64url'), bytes));
  }

  private window(): number {
    return Math.floor(this.clock() / WINDOW_MS);
  }

  private nonces(window: number): string[] {
    const bytes = Buffer.alloc(WINDOW_BYTES);
    bytes.writeUIntBE(window, 0, WINDOW_BYTES);
    return this.keys.map((key) => {
      const mac = createHmac('sha256', key).update(bytes).digest().subarray(0, MAC_BYTES);
      return Buffer.concat([bytes, mac]).toString('base64url');
    });
  }
}
