import { Option } from 'commander';
import { progressBar } from '../command-line/dialog.js';
import { FindingsError } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printResult } from '../command-line/output.js';
import { readSettings } from '../settings/read-settings.js';
import { DoctorSettings } from '../settings/settings.js';
import { addressArea } from './address.area.js';
import { certificateArea } from './certificate.area.js';
import { clientArea } from './client.area.js';
import { databaseArea } from './database.area.js';
import { diagnose } from './diagnose.js';
import { type Area, AREAS, noneChecked, type Severity } from './finding.js';
import { natsArea } from './nats.area.js';
import { processAreas } from './process.area.js';
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
  const settings = readSettings(DoctorSettings);
  const bar = progressBar('parts examined');
  const areas = [
    addressArea(settings),
    ...processAreas(settings),
    databaseArea(settings),
    natsArea(settings),
    certificateArea(settings),
    clientArea(settings),
  ].map((area) => (skip.includes(area.name) ? skipped(area) : area));
  const diagnosis = await diagnose(areas, (done, total) => bar.show(done, total)).finally(() => bar.end());
  const result = asJson(diagnosis, failOn);
  printResult(options, result, () => printReport(diagnosis));
  if (!result.passed) throw new FindingsError();
}

function skipped({ name, checks }: Area): Area {
  return { name, checks, examine: async () => noneChecked(checks, `--skip ${name}`) };
}
