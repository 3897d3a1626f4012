import { diffChars } from 'diff';

/** Two values that had to agree, and where they do not. */
export interface Difference {
  readonly sent: string;
  readonly expected: string;
  /** The value with `{+what only the request has+}` and `[-what only the expected value has-]`. */
  readonly marked: string;
}

/** Texts that share no run of so many characters are shown whole. */
const SHARED_CHARACTERS = 3;

/** Compares character by character, because that is how the service compares. */
export function differenceOf(sent: string, expected: string): Difference {
  const parts = diffChars(expected, sent);
  const longest = Math.max(
    ...parts.map(({ value, added, removed }) => (added || removed ? 0 : value.length)),
  );
  // Single letters that two different texts happen to share tell nothing.
  if (longest < Math.min(SHARED_CHARACTERS, sent.length, expected.length))
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

function changedCharacters(one: string, other: string): number {
  return diffChars(one, other).reduce(
    (sum, { value, added, removed }) => sum + (added || removed ? value.length : 0),
    0,
  );
}
