import { randomBytes } from 'node:crypto';
import { csrfToken, isCsrfToken } from '#ui/browser-cookie.js';

/** Returns a new value of the field `form_id`. @param key `Account.formIdKey` */
export function newFormId(key: string): string {
  const id = randomBytes(16).toString('base64url');
  return `${id}.${csrfToken(key, id)}`;
}

/** Returns true if a page of this app showed the form in this browser, to a user who was logged in. */
export function isFormId(formId: string, key: string): boolean {
  const [id = '', tag] = formId.split('.', 2);
  return isCsrfToken(tag, key, id);
}
