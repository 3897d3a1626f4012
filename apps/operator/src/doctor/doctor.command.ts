import { Option } from 'commander';
import { AREAS, type Severity } from '#diagnosis/finding.js';
import { warnOf } from '../command-line/change.js';
import { progressBar } from '../command-line/dialog.js';
import { FindingsError } from '../command-line/option-values.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printResult } from '../command-line/output.js';
import { withAdministration } from '../connections/administration.js';
import { DoctorSettings } from '../settings/settings.js';
import { asJson, printReport } from './report.js';

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
      'Changes nothing. Exits with 4 if there are findings of that severity or a higher one, so that a deployment can wait for it.\n' +
        'docs/doctor.md lists every check.',
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
