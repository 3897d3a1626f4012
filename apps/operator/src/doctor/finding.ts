/**
 * `error`: users, tokens or the service are in danger, or something does not work. `warning`: fix it soon. `info`: good to know.
 */
export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A rule that must hold. */
export interface Check {
  readonly severity: Severity;
  /** What is true when all is well. */
  readonly holds: string;
  /** Standards with their sections, like `RFC 9700 2.1.1`; empty for a rule of operation. */
  readonly standards: readonly string[];
}

/** Checks by their ids, which are stable: scripts and documents name them. */
export type Checks = Readonly<Record<string, Check>>;

/** A place where a rule does not hold. */
export interface Finding {
  /** Id of the check. */
  readonly check: string;
  /** Where: an address, a client, a process. */
  readonly subject: string;
  readonly problem: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** A rule that could not be checked, or has nothing to check. */
export interface NotChecked {
  readonly check: string;
  readonly reason: string;
}

/** The parts of an installation. */
export const AREAS = [
  'addresses',
  'certificates',
  'processes',
  'keys',
  'postgresql',
  'redis',
  'nats',
  'audit',
  'clients',
] as const;

/** Examines one part. */
export interface Area {
  readonly name: (typeof AREAS)[number];
  readonly checks: Checks;
  /** Checks that are in no result hold. */
  examine(): Promise<readonly (Finding | NotChecked)[]>;
}

/** All of these checks, for one reason. */
export function noneChecked(checks: Checks, reason: string): NotChecked[] {
  return Object.keys(checks).map((check) => ({ check, reason }));
}

export function isFinding(result: Finding | NotChecked): result is Finding {
  return 'problem' in result;
}

/** Shorthand for the tables of checks. */
export function check(severity: Severity, holds: string, ...standards: string[]): Check {
  return { severity, holds, standards };
}
