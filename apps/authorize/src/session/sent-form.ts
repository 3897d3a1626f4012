import { createHmac, randomBytes } from 'node:crypto';
import { HANDLE_BYTES } from '#grants/token-codec.js';

/** Hidden field with a random number, which differs each time the page is sent. */
export const FORM_FIELD = 'form';

const NONCE = /^[\w-]{22}$/;

export const newFormNonce = (): string => randomBytes(16).toString('base64url');

/**
 * A consent form in a browser, or a link with a pushed request. The same form gets the same answer again, because the
 * browser drops the first answer when the user clicks again (docs/adr/0044-answers-to-forms.md). Every value is an HMAC
 * keyed with the session cookie, which the service does not store.
 */
export class SentForm {
  private constructor(
    private readonly cookie: string,
    private readonly query: string,
    private readonly nonce: string,
  ) {}

  /** @returns null without a cookie or with an invalid nonce */
  static of(cookie: string | null, query: string, nonce: unknown): SentForm | null {
    if (cookie === null || typeof nonce !== 'string' || !NONCE.test(nonce)) return null;
    return new SentForm(cookie, query, nonce);
  }

  /** The query of a pushed request is unique, because it contains the `request_uri`. */
  static ofPushed(cookie: string | null, query: string): SentForm | null {
    return cookie === null ? null : new SentForm(cookie, query, '');
  }

  /** Stored with the answer. */
  get id(): string {
    return this.mac('id').toString('base64url');
  }

  /** Handle of the grant with this scope. */
  handleOf(scope: string): Buffer {
    return this.mac(`handle ${scope}`).subarray(0, HANDLE_BYTES);
  }

  private mac(purpose: string): Buffer {
    return createHmac('sha256', this.cookie).update(`form ${purpose}\n${this.nonce}\n${this.query}`).digest();
  }
}
