import { diffChars } from 'diff';

/** Two values that had to agree, and where they do not. */
export interface Difference {
  readonly sent: string;
  readonly expected: string;
  /** The value with `{+what only the request has+}` and `[-what only the expected value has-]`. */
  readonly marked: string;
}

/** Compares character by character, because that is how the service compares. */
export function differenceOf(sent: string, expected: string): Difference {
  const marked = diffChars(expected, sent)
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
