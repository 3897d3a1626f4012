import { withNames } from '#administration/administration.error.js';
import { counted, printable } from '#administration/text.js';
import { flagOf, nextText } from '../command-line/flags.js';
import { printLine } from '../command-line/output.js';
import { type Style, styled } from '../command-line/style.js';
import type { Diagnosed, Diagnosis } from '#administration/doctor/diagnose.js';
import { type Severity, SEVERITIES } from '#administration/doctor/finding.js';

function isAtLeast(severity: Severity, threshold: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(threshold);
}

export function asJson({ findings, holding, notChecked }: Diagnosis, failOn: Severity) {
  return {
    passed: !findings.some(({ severity }) => isAtLeast(severity, failOn)),
    fail_on: failOn,
    counts: Object.fromEntries(SEVERITIES.map((severity) => [severity, countOf(findings, severity)])),
    findings: findings.map(({ check, severity, area, standards, subject, problem, remedy }) => ({
      check,
      severity,
      area,
      standards,
      subject,
      problem,
      remedy: remedyText(remedy),
    })),
    holding,
    not_checked: notChecked.map(({ check, reason }) => ({ check, reason })),
  };
}

export function printReport({ findings, holding, notChecked }: Diagnosis): void {
  let last: Partial<Diagnosed> = {};
  for (const finding of findings) {
    if (finding.check !== last.check) printHeading(finding);
    if (finding.check !== last.check || finding.subject !== last.subject)
      printLine(`  ${printable(finding.subject)}`);
    last = finding;
    printLine(`    ${printable(finding.problem)}`);
    for (const line of `remedy: ${remedyText(finding.remedy)}`.split('\n'))
      printLine(`    ${printable(line)}`);
  }
  if (findings.length > 0) printLine();
  for (const [reason, ids] of byReason(notChecked))
    printLine(`Not checked (${printable(reason)}): ${ids.join(', ')}`);
  const counts = SEVERITIES.map((severity) => counted(countOf(findings, severity), NOUNS[severity]));
  printLine(`${counted(holding.length, 'check')} passed; ${counts.join(', ')}.`);
}

const remedyText = (remedy: Diagnosed['remedy']): string =>
  typeof remedy === 'string' ? withNames(remedy, flagOf) : remedy.map(nextText).join('\n');

const NOUNS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' };

const STYLES: Readonly<Record<Severity, Style>> = { error: 'red', warning: 'yellow', info: 'cyan' };

function printHeading({ severity, check, holds, standards }: Diagnosed): void {
  const sections = standards.length === 0 ? '' : ` [${standards.join(', ')}]`;
  printLine(
    `\n${styled(STYLES[severity], severity.toUpperCase())} ${styled('bold', check)}${styled('dim', sections)}\n  expected: ${holds}`,
  );
}

function byReason(notChecked: Diagnosis['notChecked']): Map<string, string[]> {
  const reasons = new Map<string, string[]>();
  for (const { check, reason } of notChecked) reasons.set(reason, [...(reasons.get(reason) ?? []), check]);
  return reasons;
}

function countOf(findings: readonly Diagnosed[], wanted: Severity): number {
  return findings.filter(({ severity }) => severity === wanted).length;
}
