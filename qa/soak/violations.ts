import type { Attempt } from './requests.js';
import { seconds, type Timeline } from './timeline.js';

export interface Violation {
  readonly rule: string;
  readonly detail?: string;
  readonly attempts?: readonly Attempt[];
  /** Events of the grant before the violation. */
  readonly history?: readonly string[];
  /** In milliseconds. Faults after this time may be related. */
  readonly since: number;
  /** True for a rule with a deadline, which a busy machine may violate. */
  readonly timeDependent?: boolean;
}

export type Violate = (violation: Violation) => void;

/** Describes a violation, without response bodies that may contain tokens. */
export function describeViolation(
  { rule, detail, attempts = [], history = [], since }: Violation,
  timeline: Timeline,
): string {
  const now = timeline.now();
  return [
    `VIOLATION at ${seconds(now)}: ${rule}`,
    ...(detail === undefined ? [] : [`  ${detail}`]),
    ...attempts.map((attempt) => `  ${describeAttempt(attempt)}`),
    ...history.slice(-40).map((line) => `    ${line}`),
    `  faults: ${timeline.describe(since, now)}`,
  ].join('\n');
}

/** Includes the reference of an error, with which the log entry can be found. */
export function describeAttempt({ operation, servedBy, sentAt, answeredAt, status, text }: Attempt): string {
  const body = status === 200 || (status >= 300 && status < 400) ? '' : ` ${textOf(text)}`;
  return `${seconds(sentAt)} ${operation} → ${servedBy}, ${seconds(answeredAt)}: ${status || 'no answer'}${body}`;
}

function textOf(text: string): string {
  const reference = /<code>([\w-]+)<\/code>/.exec(text)?.[1];
  const heading = /<h1[^>]*>(.*?)<\/h1>/s.exec(text)?.[1]?.trim();
  return heading === undefined ? text.slice(0, 400) : `${heading} (reference ${reference ?? 'none'})`;
}
