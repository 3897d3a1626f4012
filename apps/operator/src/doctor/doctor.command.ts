import { Option } from 'commander';
import { counted, printable } from '#operations/wording.js';
import type { Diagnosed, Diagnosis } from '#diagnosis/diagnose.js';
import { countOf, diagnosisJson, remedyText } from '#diagnosis/diagnosis.description.js';
import { AREAS, SEVERITIES, type Severity } from '#diagnosis/finding.js';
import { invocation, OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printLine, printResult } from '../command-line/output.js';
import { type Style, styled } from '../command-line/table.js';
import { warnOf } from '../command-line/change.js';
import { progressBar } from '../command-line/prompts.js';
import { FindingsError } from '../command-line/flags.js';
import { withAdministration } from '../connections/administration.js';
import { DoctorSettings } from '../settings/settings.js';

const PROGRAM = invocation();

const asJson = (diagnosis: Diagnosis, failOn: Severity) => diagnosisJson(diagnosis, failOn, PROGRAM);

function printReport({ findings, holding, notChecked }: Diagnosis): void {
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

export function doctorCommand(): OperatorCommand {
  return new OperatorCommand('doctor')
    .description('check the whole installation against RFC 9700 and OWASP ASVS 5.0, and say what to fix')
    .addOption(
      new Option('--fail-on <severity>', 'lowest severity that makes the command fail')
        .choices(['error', 'warning'])
        .default('error'),
    )
    .addOption(new Option('--skip <parts...>', 'parts to skip').choices(AREAS).default([], 'none'))
    .jsonOption()
    .notes(
      'Changes nothing. Exits with 4 if there are findings of that severity or a higher one, so that a deployment can wait for it.',
    )
    .examples('doctor', 'doctor --fail-on warning --json', 'doctor --skip addresses certificates')
    .action(run);
}

interface Options extends JsonOption {
  failOn: Severity;
  skip: readonly string[];
}

async function run({ failOn, skip, ...options }: Options): Promise<void> {
  const bar = progressBar('parts examined');
  const { warnings, ...diagnosis } = await withAdministration(DoctorSettings, ({ doctor }) =>
    doctor.diagnose({ skip }, (done, total) => bar.show(done, total)),
  ).finally(() => bar.end());
  warnOf(warnings);
  const result = asJson(diagnosis, failOn);
  printResult(options, result, () => printReport(diagnosis));
  if (!result.passed) throw new FindingsError();
}
