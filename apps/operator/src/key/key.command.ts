import { InputError } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  type JsonOption,
  printable,
  printLine,
  printRaw,
  printResult,
  printTable,
  warn,
} from '../command-line/output.js';
import { readSecretLine } from '../command-line/secret-input.js';
import { commandToPaste } from '../command-line/shell.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings, KeySettings } from '../settings/settings.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { countByService, type ReportedKey } from './key-report.js';
import { prepareStep, reportKeys } from './key.service.js';
import { type RotationStep, STEPS } from './rotation.js';

export function keyCommand(): OperatorCommand {
  const keys = new OperatorCommand('keys').description('the keys that sign tokens').examples('keys list');

  keys
    .command('list')
    .description('show what each key does in every running process, and until when live tokens may need it')
    .jsonOption()
    .notes('Never shows a key: its id is a hash, which every token names. Warns if processes disagree.')
    .examples('keys list')
    .action(list);

  keys
    .command('next')
    .description('print the next value of TOKEN_KEYS, which contains the keys: keep it secret')
    .option('--stdin', 'read the current value from a line of stdin, not from TOKEN_KEYS')
    .option('--begin', 'begin a rotation although live tokens still need a key of the last one')
    .jsonOption()
    .notes(
      'A rotation has three steps: 1 add a new key, which every process can then verify; 2 sign with it; 3 remove the old key, when ' +
        'no live token needs it. Run this for each, set the value for authorize and token, and restart all their processes. It refuses a ' +
        'step that would log users out. The value goes to stdout, the explanation to stderr. It changes nothing by itself.',
    )
    .examples('keys next', 'keys next --stdin < current-keys > next-keys')
    .action(next);

  return keys;
}

async function list(options: JsonOption): Promise<void> {
  const report = await reportKeys(readSettings(ChangeSettings));
  printResult(options, describe(report), () => {
    printTable(
      ['id', 'signs', 'verifies', 'missing', 'last_signed_at', 'needed_until'],
      report.keys.map((key) => [
        key.id,
        countByService(key.signsIn) || '-',
        countByService(key.verifiesIn) || '-',
        countByService(key.missingIn) || '-',
        minute(key.record?.lastSignedAt) ?? 'never',
        minute(key.record?.neededUntil) ?? '-',
      ]),
    );
    if (report.idTokenKeys.length > 0) {
      printLine('\nKeys of ID tokens:');
      printTable(
        ['kid', 'alg', 'signs', 'verifies', 'missing'],
        report.idTokenKeys.map(({ id, alg, signsIn, verifiesIn, missingIn }) => [
          id,
          alg,
          ...[signsIn, verifiesIn, missingIn].map((processes) => countByService(processes) || '-'),
        ]),
      );
    }
    printLine(`\nProcesses that answered: ${printable(countByService(report.processes) || 'none')}`);
    for (const { what, remedy } of report.problems) warn(`${what}; ${remedy}`);
  });
}

async function next({
  json,
  stdin,
  begin = false,
}: JsonOption & { stdin?: true; begin?: boolean }): Promise<void> {
  const given = stdin && { TOKEN_KEYS: await presentKeys() };
  const settings = readSettings(KeySettings, { ...process.env, ...given });
  const step = await prepareStep(settings, begin);
  printResult({ json }, { ...step, tokenKeys: undefined, token_keys: step.tokenKeys }, () => {
    process.stderr.write(`${explain(step)}\n`);
    printRaw(step.tokenKeys);
  });
}

/** Reads stdin without falling back to TOKEN_KEYS: an empty pipe means that the previous command failed. */
async function presentKeys(): Promise<string> {
  const text = (await readSecretLine('--stdin', 'the value of TOKEN_KEYS')).trim();
  const { KeyRing } = await import('#grants/key-ring.js');
  try {
    KeyRing.parse(text);
  } catch {
    throw new InputError([
      text === ''
        ? '--stdin: stdin is empty: give the current value of TOKEN_KEYS'
        : '--stdin: this is not a value of TOKEN_KEYS: give different keys of 32 random bytes in base64url, comma-separated',
    ]);
  }
  return text;
}

function explain({ step, action, keys }: RotationStep): string {
  const named = keys.join(', ');
  const what = {
    add: `adds the new key ${named}, which signs nothing yet`,
    sign: `signs with ${named}, which every running process can verify`,
    remove: `removes ${named}: live tokens no longer need it`,
  }[action];
  const then = commandToPaste('keys', step === STEPS ? 'list' : 'next');
  return (
    `Step ${step} of ${STEPS} ${what}.\n` +
    'The next value of TOKEN_KEYS is on stdout, and is secret. Set it for authorize and token, restart every process of both one after\n' +
    `the other. Then:${then}\n`
  );
}

function describe({ processes, keys, idTokenKeys, problems }: Awaited<ReturnType<typeof reportKeys>>) {
  const namesOf = (some: readonly ServiceStatus[]) =>
    some.map(({ service, instance }) => `${service} ${instance}`);
  return {
    processes: namesOf(processes),
    keys: keys.map(({ id, signsIn, verifiesIn, missingIn, record }: ReportedKey) => ({
      id,
      signs_in: namesOf(signsIn),
      verifies_in: namesOf(verifiesIn),
      missing_in: namesOf(missingIn),
      first_seen_at: record?.firstSeenAt.toISOString() ?? null,
      last_signed_at: record?.lastSignedAt?.toISOString() ?? null,
      needed_until: record?.neededUntil?.toISOString() ?? null,
    })),
    id_token_keys: idTokenKeys.map(({ id, alg, signsIn, verifiesIn, missingIn }) => ({
      id,
      alg,
      signs_in: namesOf(signsIn),
      verifies_in: namesOf(verifiesIn),
      missing_in: namesOf(missingIn),
    })),
    problems,
  };
}

/** `2026-11-22 19:00Z` */
function minute(time: Date | null | undefined): string | null {
  return time ? `${time.toISOString().slice(0, 16).replace('T', ' ')}Z` : null;
}
