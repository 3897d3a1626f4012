import { type ChangeObject, diffChars } from 'diff';

/** Present in both values, unless `only` is set. */
export interface DifferencePart {
  readonly text: string;
  readonly only?: 'sent' | 'expected';
}

export interface Difference {
  readonly sent: string;
  readonly expected: string;
  readonly parts: readonly DifferencePart[];
}

/** Texts without a common run of this length are shown as a whole. */
const SHARED_CHARACTERS = 3;
/** The time to compare grows with the square of the changes, and an attacker may choose one of the texts. */
const MAX_CHANGES = 250;
/** Maximum number of compared values. An event may contain thousands, because any process may store one. */
const MAX_CANDIDATES = 50;

export function differenceOf(sent: string, expected: string): Difference {
  const parts = partsOf(sent, expected);
  const longest = Math.max(
    ...(parts ?? []).map(({ value, added, removed }) => (added || removed ? 0 : value.length)),
  );
  // Single letters that unrelated texts share are meaningless.
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

/** Marks a part: `{+only sent+}`, `[-only expected-]`. */
export function marked({ text, only }: DifferencePart): string {
  if (only === undefined) return text;
  return only === 'sent' ? `{+${text}+}` : `[-${text}-]`;
}

export function markedText({ parts }: Difference): string {
  return parts.map(marked).join('');
}

const onlySent = (text: string): DifferencePart => ({ text, only: 'sent' });

const onlyExpected = (text: string): DifferencePart => ({ text, only: 'expected' });

export function closestDifference(sent: string, candidates: readonly string[]): Difference | null {
  const [closest] = candidates
    .slice(0, MAX_CANDIDATES)
    .map((candidate) => ({ candidate, changes: changedCharacters(sent, candidate) }))
    .sort((a, b) => a.changes - b.changes);
  return closest ? differenceOf(sent, closest.candidate) : null;
}

function changedCharacters(sent: string, expected: string): number {
  const parts = partsOf(sent, expected);
  if (!parts) return sent.length + expected.length;
  return parts.reduce((sum, { value, added, removed }) => sum + (added || removed ? value.length : 0), 0);
}

function partsOf(sent: string, expected: string): ChangeObject<string>[] | undefined {
  return diffChars(expected, sent, { maxEditLength: MAX_CHANGES });
}
