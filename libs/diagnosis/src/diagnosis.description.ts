import { shellWords } from '#operations/wording.js';
import type { Diagnosed, Diagnosis } from './diagnose.js';
import { SEVERITIES, type Severity } from './finding.js';

/** @param failOn lowest severity that fails the installation */
export function diagnosisJson(
  { findings, holding, notChecked }: Diagnosis,
  failOn: Severity,
  program: string,
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
      remedy: remedyText(remedy, program),
    })),
    holding,
    not_checked: notChecked.map(({ check, reason }) => ({ check, reason })),
  };
}

export function countOf(findings: Diagnosis['findings'], wanted: Severity): number {
  return findings.filter(({ severity }) => severity === wanted).length;
}

export function remedyText(remedy: Diagnosed['remedy'], program: string): string {
  if (typeof remedy === 'string') return remedy;
  return remedy.map(({ text, command }) => `${text}:\n  ${program} ${shellWords(command)}`).join('\n');
}
