import { isEmail } from 'class-validator';
import { isLoopback } from '../redirect-uri.js';
import { quoted } from '../text.js';

/** Links to an application and its contacts (RFC 7591 2). */
interface ClientLinks {
  readonly clientUri: string | null;
  readonly policyUri: string | null;
  readonly contacts: readonly string[];
}

const MAX_CONTACTS = 5;
const MAX_LENGTH = 500;

/** Checks the links that pages show (RFC 7591 2). Accepts https, and http on the developer's machine. */
export function linkProblems(
  links: Partial<ClientLinks>,
  nameOf: (field: keyof ClientLinks) => string,
): string[] {
  const { clientUri, policyUri, contacts = [] } = links;
  const problems = Object.entries({ clientUri, policyUri })
    .filter(([, uri]) => uri !== undefined && uri !== null && !isLink(uri))
    .map(([field, uri]) => `${nameOf(field as keyof ClientLinks)} ${quoted(uri ?? '')} must be an https URL`);
  if (contacts.length > MAX_CONTACTS)
    problems.push(`${nameOf('contacts')} has more than ${MAX_CONTACTS}: give fewer`);
  for (const contact of contacts)
    if (!isLink(contact) && !isEmailAddress(contact))
      problems.push(`${nameOf('contacts')} ${quoted(contact)} must be an email address or an https URL`);
  return problems;
}

/** Rejects control characters, which `isEmail` accepts in quotes, and lone surrogates, for which it throws. */
export function isEmailAddress(text: string): boolean {
  return !/\p{C}/u.test(text) && isEmail(text);
}

/** Rejects URLs with credentials, and URLs that browsers rewrite. */
function isLink(text: string): boolean {
  if (text.length > MAX_LENGTH || !/^https?:\/\/[!-~]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password, href } = new URL(text);
  const isWritten = href === text || href === `${text}/`;
  return isWritten && username + password === '' && (protocol === 'https:' || isLoopback(hostname));
}

export function jwksUriProblem(uri: string): string | null {
  return isLink(uri) && !uri.includes('#') ? null : 'must be an https URL without user name and fragment';
}
