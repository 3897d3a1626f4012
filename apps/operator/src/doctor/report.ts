import { counted, printable } from '#operations/wording.js';
import { invocation } from '../command-line/operator-command.js';
import { printLine } from '../command-line/output.js';
import { type Style, styled } from '../command-line/style.js';
import type { Diagnosed, Diagnosis } from '#diagnosis/diagnose.js';
import { countOf, diagnosisJson, remedyText } from '#diagnosis/diagnosis.description.js';
import { type Severity, SEVERITIES } from '#diagnosis/finding.js';

const PROGRAM = invocation();

export const asJson = (diagnosis: Diagnosis, failOn: Severity) => diagnosisJson(diagnosis, failOn, PROGRAM);

export function printReport({ findings, holding, notChecked }: Diagnosis): void {
  let last: Partial<Diagnosed> = {};
  for (const finding of findings) {
    if (finding.check !== last.check) printHeading(finding);
    if (finding.check !== last.check || finding.subject !== last.subject)
      printLine(`  ${printable(finding.subject)}`);
    last = finding;
    printLine(`    ${printable(finding.problem)}`);
    for (const line of `remedy: ${remedyText(finding.remedy, PROGRAM)}`.split('\n'))
      printLine(`    ${printable(line)}`);
  }
  if (findings.length > 0) printLine();
  for (const [reason, ids] of byReason(notChecked))
    printLine(`Not checked (${printable(reason)}): ${ids.join(', ')}`);
  const counts = SEVERITIES.map((severity) => counted(countOf(findings, severity), NOUNS[severity]));
  printLine(`${counted(holding.length, 'check')} passed; ${counts.join(', ')}.`);
}

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
