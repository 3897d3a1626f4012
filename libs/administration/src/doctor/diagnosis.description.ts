import { withNames } from '../administration.error.js';
import { shellWords } from '../text.js';
import type { Diagnosed, Diagnosis } from './diagnose.js';
import { SEVERITIES, type Severity } from './finding.js';

/**
 * @param failOn lowest severity with which the installation does not pass
 * @param names of the fields of operations, and of the program, for remedies
 */
export function diagnosisJson(
  { findings, holding, notChecked }: Diagnosis,
  failOn: Severity,
  names: Parameters<typeof remedyText>[1],
) {
  const failing = SEVERITIES.slice(0, SEVERITIES.indexOf(failOn) + 1);
  return {
    passed: !findings.some(({ severity }) => failing.includes(severity)),
    fail_on: failOn,
    counts: Object.fromEntries(SEVERITIES.map((severity) => [severity, countOf(findings, severity)])),
    findings: findings.map(({ check, severity, area, standards, subject, problem, remedy }) => ({
      check,
      severity,
      area,
      standards,
      subject,
      problem,
      remedy: remedyText(remedy, names),
    })),
    holding,
    not_checked: notChecked.map(({ check, reason }) => ({ check, reason })),
  };
}

export function countOf(findings: Diagnosis['findings'], wanted: Severity): number {
  return findings.filter(({ severity }) => severity === wanted).length;
}

/** A command stands alone on its line. */
export function remedyText(
  remedy: Diagnosed['remedy'],
  { nameOf, program }: { readonly nameOf: (field: string) => string; readonly program: string },
): string {
  if (typeof remedy === 'string') return withNames(remedy, nameOf);
  return remedy
    .map(({ text, command }) => `${withNames(text, nameOf)}:\n  ${program} ${shellWords(command)}`)
    .join('\n');
}
