import type { Try } from './requests.js';
import { seconds, type Timeline } from './timeline.js';

export interface Violation {
  readonly rule: string;
  readonly what?: string;
  /** The requests that break it. */
  readonly tries?: readonly Try[];
  /** What went before, a line an event. */
  readonly story?: readonly string[];
  /** From when on faults may have to do with it. */
  readonly from: number;
  /** Whether time decides: a machine without a free core breaks such a rule, too. */
  readonly timed?: boolean;
}

export type Violate = (violation: Violation) => void;

/** A violation in words: what it takes to understand it. Of answers that may hold tokens only the status is shown. */
export function describeViolation(
  { rule, what, tries = [], story = [], from }: Violation,
  timeline: Timeline,
): string {
  const now = timeline.now();
  return [
    `VIOLATION at ${seconds(now)}: ${rule}`,
    ...(what === undefined ? [] : [`  ${what}`]),
    ...tries.map((one) => `  ${describeTry(one)}`),
    ...story.slice(-40).map((line) => `    ${line}`),
    `  faults: ${timeline.describe(from, now)}`,
  ].join('\n');
}

/** A request in a line. Its reference is that of the log. */
export function describeTry({ operation, place, sentAt, answeredAt, status, text }: Try): string {
  const body = status === 200 || (status >= 300 && status < 400) ? '' : ` ${textOf(text)}`;
  return `${seconds(sentAt)} ${operation} → ${place}, ${seconds(answeredAt)}: ${status || 'no answer'}${body}`;
}

function textOf(text: string): string {
  const reference = /<code>([\w-]+)<\/code>/.exec(text)?.[1];
  const heading = /<h1[^>]*>(.*?)<\/h1>/s.exec(text)?.[1]?.trim();
  return heading === undefined ? text.slice(0, 400) : `${heading} (reference ${reference ?? 'none'})`;
}
