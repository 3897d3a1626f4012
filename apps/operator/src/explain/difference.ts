import { type ChangeObject, diffChars } from 'diff';

/** Two values that had to agree, and where they do not. */
export interface Difference {
  readonly sent: string;
  readonly expected: string;
  /** The value with `{+what only the request has+}` and `[-what only the expected value has-]`. */
  readonly marked: string;
}

/** Texts that share no run of so many characters are shown whole. */
const SHARED_CHARACTERS = 3;
/**
 * Texts that differ in more characters are shown whole. The time of a comparison grows with the square of this number, and the
 * sender of a request chooses one of the texts: two of 2000 characters that share nothing take seconds.
 */
const MAX_CHANGES = 250;

/** Compares character by character, because that is how the service compares. */
export function differenceOf(sent: string, expected: string): Difference {
  const parts = partsOf(sent, expected);
  const longest = Math.max(
    ...(parts ?? []).map(({ value, added, removed }) => (added || removed ? 0 : value.length)),
  );
  // Single letters that two different texts happen to share tell nothing.
  if (!parts || longest < Math.min(SHARED_CHARACTERS, sent.length, expected.length))
    return { sent, expected, marked: `[-${expected}-]{+${sent}+}` };
  const marked = parts
    .map(({ value, added, removed }) => (added ? `{+${value}+}` : removed ? `[-${value}-]` : value))
    .join('');
  return { sent, expected, marked };
}

/** Compares a value with the one of several that it resembles most. @returns null if there is nothing to compare with */
export function closestDifference(sent: string, candidates: readonly string[]): Difference | null {
  const [closest] = candidates
    .map((candidate) => ({ candidate, changes: changedCharacters(sent, candidate) }))
    .sort((one, other) => one.changes - other.changes);
  return closest ? differenceOf(sent, closest.candidate) : null;
}

function changedCharacters(sent: string, expected: string): number {
  const parts = partsOf(sent, expected);
  if (!parts) return sent.length + expected.length;
  return parts.reduce((sum, { value, added, removed }) => sum + (added || removed ? value.length : 0), 0);
}

/** Undefined for texts that differ in too many characters. */
function partsOf(sent: string, expected: string): ChangeObject<string>[] | undefined {
  return diffChars(expected, sent, { maxEditLength: MAX_CHANGES });
}
