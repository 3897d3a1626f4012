import { type ChangeObject, diffChars } from 'diff';

/** A part of a difference: in both values, only in what was sent, or only in what was expected. */
export interface DifferencePart {
  readonly text: string;
  readonly only?: 'sent' | 'expected';
}

/** Two values that had to agree, and where they do not. */
export interface Difference {
  readonly sent: string;
  readonly expected: string;
  readonly parts: readonly DifferencePart[];
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
    return { sent, expected, parts: [onlyExpected(expected), onlySent(sent)] };
  return {
    sent,
    expected,
    parts: parts.map(({ value, added, removed }) =>
      added ? onlySent(value) : removed ? onlyExpected(value) : { text: value },
    ),
  };
}

/** Marks a part: `{+only in what was sent+}`, `[-only in what was expected-]`. */
export function marked({ text, only }: DifferencePart): string {
  if (only === undefined) return text;
  return only === 'sent' ? `{+${text}+}` : `[-${text}-]`;
}

/** The whole difference in one text. */
export function markedText({ parts }: Difference): string {
  return parts.map(marked).join('');
}

const onlySent = (text: string): DifferencePart => ({ text, only: 'sent' });

const onlyExpected = (text: string): DifferencePart => ({ text, only: 'expected' });

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
