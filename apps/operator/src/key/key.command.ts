import { printable } from '#administration/text.js';
import { Option } from 'commander';
import { InputError } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  type JsonOption,
  printLine,
  printRaw,
  printResult,
  printTable,
  warn,
} from '../command-line/output.js';
import { readSecretLine, readSecretText } from '../command-line/secret-input.js';
import { commandToPaste } from '../command-line/shell.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings, IdTokenKeySettings, KeySettings } from '../settings/settings.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import type { ReportedIdTokenKey } from './id-token-key-report.js';
import { countByService } from './key-report.js';
import { SIGNING_ALGORITHMS, type SigningAlgorithm, SigningKeys } from '#oauth/openid/signing-keys.js';
import { publicIdTokenKeys } from '#oauth/openid/generate-keys.js';
import type { IdTokenKeyStep } from './id-token-rotation.js';
import { prepareIdTokenStep, prepareStep, reportKeys } from './key.service.js';
import { type RotationStep, STEPS } from './rotation.js';

export function keyCommand(): OperatorCommand {
  const keys = new OperatorCommand('keys').description('the keys that sign tokens').examples('keys list');

  keys
    .command('list')
    .description(
      'show what each key of tokens and ID tokens does in every running process, and until when live tokens may need it',
    )
    .jsonOption()
    .notes('Never shows a key: its id is a hash, which every token names. Warns if processes disagree.')
    .examples('keys list')
    .action(list);

  keys
    .command('next')
    .description(
      'print the next value of TOKEN_KEYS or ID_TOKEN_KEYS, which contains the keys: keep it secret',
    )
    .option('--stdin', 'read the current value from stdin, not from the environment')
    .option('--id-token', 'rotate the keys of ID tokens: ID_TOKEN_KEYS of the token app')
    .addOption(
      new Option(
        '--alg <alg>',
        'algorithm of --id-token; by default the one in rotation, else RS256',
      ).choices(SIGNING_ALGORITHMS),
    )
    .option('--begin', 'begin a rotation although live tokens still need a key of the last one')
    .jsonOption()
    .notes(
      'A rotation has three steps: 1 add a new key, which every process can then verify; 2 sign with it; 3 remove the old key, when ' +
        'no live token needs it. Run this for each, set the value for authorize and token, and restart all their processes. It refuses a ' +
        'step that would log users out, or make applications refuse ID tokens. The value goes to stdout, the explanation to stderr. It changes nothing by itself.',
    )
    .examples(
      'keys next',
      'keys next --stdin < current-keys > next-keys',
      'keys next --id-token --stdin < current-keys > next-keys',
    )
    .action(next);

  keys
    .command('public')
    .description('print the public keys of ID_TOKEN_KEYS, which the authorize app has')
    .option('--stdin', 'read the private keys from stdin, not from ID_TOKEN_KEYS')
    .examples('keys public --stdin < id-token-keys > id-token-public-keys')
    .action(printPublicKeys);

  return keys;
}

async function list(options: JsonOption): Promise<void> {
  const report = await reportKeys(readSettings(ChangeSettings));
  printResult(options, describe(report), () => {
    printTable(
      ['id', 'signs', 'verifies', 'missing', 'last_signed_at', 'needed_until'],
      report.keys.map((key) => [key.id, ...usesOf(key)]),
    );
    if (report.idTokenKeys.length > 0) {
      printLine('\nKeys of ID tokens:');
      printTable(
        ['kid', 'alg', 'signs', 'verifies', 'missing', 'last_signed_at', 'needed_until'],
        report.idTokenKeys.map((key) => [key.id, key.alg, ...usesOf(key)]),
      );
    }
    printLine(`\nProcesses that answered: ${printable(countByService(report.processes) || 'none')}`);
    for (const { what, remedy } of report.problems) warn(`${what}; ${remedy}`);
  });
}

type ReportedUse = Omit<ReportedIdTokenKey, 'id' | 'alg'>;

const usesOf = ({ signsIn, verifiesIn, missingIn, record }: ReportedUse): string[] => [
  ...[signsIn, verifiesIn, missingIn].map((processes) => countByService(processes) || '-'),
  minute(record?.lastSignedAt) ?? 'never',
  minute(record?.neededUntil) ?? '-',
];

interface NextOptions extends JsonOption {
  readonly stdin?: true;
  readonly begin?: boolean;
  readonly idToken?: true;
  readonly alg?: SigningAlgorithm;
}

async function next(options: NextOptions): Promise<void> {
  if (options.idToken) return nextIdToken(options);
  const { json, stdin, begin = false, alg } = options;
  if (alg) throw new InputError(['--alg: only with --id-token']);
  const given = stdin && { TOKEN_KEYS: await presentKeys() };
  const settings = readSettings(KeySettings, { ...process.env, ...given });
  const step = await prepareStep(settings, begin);
  printResult({ json }, { ...step, tokenKeys: undefined, token_keys: step.tokenKeys }, () => {
    process.stderr.write(`${explain(step)}\n`);
    printRaw(step.tokenKeys);
  });
}

async function nextIdToken({ json, stdin, begin = false, alg }: NextOptions): Promise<void> {
  const given = stdin && { ID_TOKEN_KEYS: await presentIdTokenKeys() };
  const settings = readSettings(IdTokenKeySettings, { ...process.env, ...given });
  const step = await prepareIdTokenStep(settings, { begin, alg });
  printResult({ json }, { ...step, idTokenKeys: undefined, id_token_keys: step.idTokenKeys }, () => {
    process.stderr.write(`${explainIdToken(step)}\n`);
    printRaw(step.idTokenKeys);
  });
}

/** Needs no service: the input alone determines the output. */
async function printPublicKeys({ stdin }: { stdin?: true }): Promise<void> {
  const text = stdin
    ? await presentIdTokenKeys()
    : checkedIdTokenKeys(process.env.ID_TOKEN_KEYS ?? '', 'ID_TOKEN_KEYS');
  printRaw(publicIdTokenKeys(text));
}

async function presentIdTokenKeys(): Promise<string> {
  return checkedIdTokenKeys(await readSecretText('--stdin', 'the value of ID_TOKEN_KEYS'), '--stdin');
}

/** @throws InputError that does not contain the text */
function checkedIdTokenKeys(text: string, source: string): string {
  if (text.trim() === '')
    throw new InputError([`${source}: it is empty: give the private keys of the token app`]);
  let keys: SigningKeys;
  try {
    keys = SigningKeys.parse(text);
  } catch (error) {
    throw new InputError([`${source}: this is not a value of ID_TOKEN_KEYS: ${(error as Error).message}`]);
  }
  if (!keys.canSign) throw new InputError([`${source}: give the private keys, which the token app has`]);
  return text;
}

function explainIdToken({ step, action, alg, keys }: IdTokenKeyStep): string {
  const named = keys.join(', ');
  const what = {
    add: `adds the new ${alg} key ${named}, which is published and signs nothing yet`,
    sign: `signs with ${named}, which applications have had time to fetch`,
    remove: `removes ${named}: the ID tokens that it signed have expired`,
  }[action];
  const authorize =
    action === 'sign'
      ? ''
      : ' Set its public keys for authorize (keys public), and restart every process of it.';
  const then = step === STEPS ? commandToPaste('keys', 'list') : commandToPaste('keys', 'next', '--id-token');
  return (
    `Step ${step} of ${STEPS} ${what}.\n` +
    'The next value of ID_TOKEN_KEYS is on stdout, and is secret. Set it for token, and restart every process of token.' +
    `${authorize}\nThen:${then}\n`
  );
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
  const useOf = ({ signsIn, verifiesIn, missingIn, record }: ReportedUse) => ({
    signs_in: namesOf(signsIn),
    verifies_in: namesOf(verifiesIn),
    missing_in: namesOf(missingIn),
    first_seen_at: record?.firstSeenAt.toISOString() ?? null,
    last_signed_at: record?.lastSignedAt?.toISOString() ?? null,
    needed_until: record?.neededUntil?.toISOString() ?? null,
  });
  return {
    processes: namesOf(processes),
    keys: keys.map((key) => ({ id: key.id, ...useOf(key) })),
    id_token_keys: idTokenKeys.map((key) => ({ id: key.id, alg: key.alg, ...useOf(key) })),
    problems,
  };
}

/** `2026-11-22 19:00Z` */
function minute(time: Date | null | undefined): string | null {
  return time ? `${time.toISOString().slice(0, 16).replace('T', ' ')}Z` : null;
}
