import type { Remedy, RemedyId, RemedyValues } from '#error-guide/doctor/remedies.js';

/**
 * `error`: users, tokens or the service are at risk, or something fails. `warning`: should be fixed soon. `info`: good
 * to know.
 */
export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface DoctorCheck {
  readonly severity: Severity;
  /** Describes the healthy state. */
  readonly holds: string;
  /** Sections, like `RFC 9700 2.1.1`; empty for an operational rule. */
  readonly standards: readonly string[];
}

/** Keyed by id. Ids are stable, because scripts and documents use them. */
export type DoctorChecks = Readonly<Record<string, DoctorCheck>>;

export interface Finding {
  readonly check: string;
  readonly subject: string;
  /** client_id of a finding about one client. */
  readonly clientId?: string;
  readonly problem: string;
  readonly remedy: Remedy;
}

/** A check that could not run, or has nothing to check. */
export interface NotChecked {
  readonly check: string;
  readonly reason: string;
}

export const AREAS = [
  'addresses',
  'certificates',
  'processes',
  'keys',
  'postgresql',
  'redis',
  'nats',
  'audit',
  'logouts',
  'events',
  'mail',
  'clients',
] as const;

type AreaName = (typeof AREAS)[number];

export interface Area {
  readonly name: AreaName;
  readonly checks: DoctorChecks;
  /** Returns findings and skipped checks; all other checks pass. */
  examine(): Promise<readonly (Finding | NotChecked)[]>;
}

export function noneChecked(checks: DoctorChecks, reason: string): NotChecked[] {
  return Object.keys(checks).map((check) => ({ check, reason }));
}

type Subject = string | Pick<Finding, 'subject' | 'clientId'>;
type VariantOf<Check extends string> = RemedyId & (Check | `${Check}.${string}`);

/** Returns a function that creates a finding of these checks, in an array for callers to return or to spread. */
export function findingOf<Check extends string>(_checks: Readonly<Record<Check, DoctorCheck>>) {
  return <Id extends VariantOf<Check>>(
    id: Id,
    about: Subject,
    problem: string,
    ...values: RemedyValues<Id>
  ): [Finding] => {
    const [given] = values as readonly object[];
    const [check = ''] = id.split('.');
    const subject = typeof about === 'string' ? { subject: about } : about;
    return [{ check, ...subject, problem, remedy: { id, values: given } }];
  };
}

/** Collects findings of these checks about one subject. */
export class Findings<Check extends string> {
  readonly list: Finding[] = [];
  private readonly finding: ReturnType<typeof findingOf<Check>>;

  constructor(
    checks: Readonly<Record<Check, DoctorCheck>>,
    private readonly subject: Subject,
  ) {
    this.finding = findingOf(checks);
  }

  add<Id extends VariantOf<Check>>(id: Id, problem: string, ...values: RemedyValues<Id>): void {
    this.list.push(...this.finding(id, this.subject, problem, ...values));
  }
}

export function isFinding(result: Finding | NotChecked): result is Finding {
  return 'problem' in result;
}

/** Severity, healthy state, and in brackets the standards: `error: cookies are Secure [ASVS 5.0 3.3.1]`. */
type CheckText = `${Severity}: ${string}`;

export function declareChecks<Id extends string>(
  texts: Readonly<Record<Id, CheckText>>,
): Record<Id, DoctorCheck> {
  const entries = Object.entries<CheckText>(texts).map(([id, text]) => {
    const [, severity, holds = '', standards] = /^(\w+): ([^[]+)(?:\[(\w[^\]]*)\])?$/.exec(text) ?? [];
    return [id, { severity, holds: holds.trimEnd(), standards: standards?.split('; ') ?? [] }];
  });
  return Object.fromEntries(entries) as Record<Id, DoctorCheck>;
}
