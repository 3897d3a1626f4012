import { InputError, quoted } from '../command-line/input.js';

const REFERENCE = /^[\w-]{12}$/;
/** What nginx calls $request_id. */
const OF_A_PROXY = /^[0-9a-f]{32}$/;

/**
 * A reference as people hand it on: with quotes, spaces, or the name of its field.
 *
 * @throws InputError that says what a reference looks like
 */
export function referenceIn(text: string): string {
  const named = text.replace(/^.*(?:error_reference|reference)\W+/i, '');
  const [, found = named] = /^["'\s]*([\w-]+)["'\s.,]*$/.exec(named) ?? [];
  if (REFERENCE.test(found)) return found;
  if (OF_A_PROXY.test(found))
    throw new InputError([
      `${quoted(found)} is a reference of the proxy (nginx): the request did not reach the service, as it was too large, one of too many, or no process answered. Search the log of the proxy for it`,
    ]);
  throw new InputError([
    `${quoted(found)} is not a reference: one has 12 letters, digits, - and _, like dhdpfs_iGBYa`,
  ]);
}

/** Whether two references differ as if one were copied by eye: in at most two characters, or in upper and lower case. */
export function isSimilar(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  if (one.toLowerCase() === other.toLowerCase()) return true;
  let different = 0;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at] && ++different > 2) return false;
  return true;
}
