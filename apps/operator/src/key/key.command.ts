import { Option } from 'commander';
import type { IdTokenKeyStep } from '#keys/operations/id-token-rotation.js';
import { describeProblem } from '#error-guide/problems/describe-problem.js';
import { whyNotPrivateKeys } from '#keys/operations/key-values.js';
import { problem } from '#platform/validation/problem.js';
import type { KeyList } from '#keys/operations/key.service.js';
import { type RotationStep, STEPS } from '#keys/operations/rotation.js';
import { printable } from '#operations/wording.js';
import { publicIdTokenKeys, SIGNING_ALGORITHMS, type SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { actor, printChange, warnOf } from '../command-line/change.js';
import { InputError } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  type JsonOption,
  printLine,
  printRaw,
  printResult,
  printTable,
  warn,
} from '../command-line/output.js';
import { readSecretLine, readSecretText } from '../command-line/prompts.js';
import { commandToPaste } from '../command-line/shell.js';
import { withAdministration } from '../connections/administration.js';
import {
  ChangeSettings,
  idTokenKeys,
  IdTokenKeySettings,
  KeySettings,
  readSettings,
} from '../settings/settings.js';

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
  const { list: report, warnings } = await withAdministration(ChangeSettings, ({ keys }) => keys.list());
  warnOf(warnings);
  printResult(options, report, () => {
    printTable(
      ['id', 'signs', 'verifies', 'missing', 'last_signed_at', 'needed_until'],
      report.keys.map((key) => [key.id, ...usesOf(key)]),
    );
    if (report.id_token_keys.length > 0) {
      printLine('\nKeys of ID tokens:');
      printTable(
        ['kid', 'alg', 'signs', 'verifies', 'missing', 'last_signed_at', 'needed_until'],
        report.id_token_keys.map((key) => [key.id, key.alg, ...usesOf(key)]),
      );
    }
    printLine(`\nProcesses that answered: ${printable(countByService(report.processes) || 'none')}`);
    for (const { message, remedy } of report.problems) warn(`${message}; ${remedy}`);
  });
}

const usesOf = (key: KeyList['keys'][number]): string[] => [
  ...[key.signs_in, key.verifies_in, key.missing_in].map((processes) => countByService(processes) || '-'),
  minute(key.last_signed_at) ?? 'never',
  minute(key.needed_until) ?? '-',
];

/** Returns a text like `token 2, authorize 1`. */
function countByService(processes: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of processes) {
    const [service = ''] = name.split(' ', 1);
    counts.set(service, (counts.get(service) ?? 0) + 1);
  }
  return [...counts].map(([service, count]) => `${service} ${count}`).join(', ');
}

interface NextOptions extends JsonOption {
  readonly stdin?: true;
  readonly begin?: boolean;
  readonly idToken?: true;
  readonly alg?: SigningAlgorithm;
}

async function next(options: NextOptions): Promise<void> {
  if (options.idToken) return nextIdToken(options);
  const { json, stdin, begin, alg } = options;
  if (alg) throw new InputError(['--alg: only with --id-token']);
  // Does not fall back to TOKEN_KEYS: an empty pipe means that the previous command failed.
  const tokenKeys = stdin
    ? (await readSecretLine('--stdin', 'the value of TOKEN_KEYS')).trim()
    : readSettings(KeySettings).TOKEN_KEYS;
  const change = await withAdministration(ChangeSettings, ({ keys }) =>
    keys.nextTokenKeys(actor(), { tokenKeys, begin }),
  );
  await printChange(change, (step) =>
    printResult({ json }, { ...step, tokenKeys: undefined, token_keys: step.tokenKeys }, () => {
      process.stderr.write(`${explain(step)}\n`);
      printRaw(step.tokenKeys);
    }),
  );
}

async function nextIdToken({ json, stdin, begin, alg }: NextOptions): Promise<void> {
  const idTokenKeys = stdin
    ? await readSecretText('--stdin', 'the value of ID_TOKEN_KEYS')
    : readSettings(IdTokenKeySettings).ID_TOKEN_KEYS;
  const change = await withAdministration(ChangeSettings, ({ keys }) =>
    keys.nextIdTokenKeys(actor(), { idTokenKeys, alg, begin }),
  );
  await printChange(change, (step) =>
    printResult({ json }, { ...step, idTokenKeys: undefined, id_token_keys: step.idTokenKeys }, () => {
      process.stderr.write(`${explainIdToken(step)}\n`);
      printRaw(step.idTokenKeys);
    }),
  );
}

/** Needs no service, because the output depends only on the input. */
async function printPublicKeys({ stdin }: { stdin?: true }): Promise<void> {
  const text = stdin ? await readSecretText('--stdin', 'the value of ID_TOKEN_KEYS') : idTokenKeys();
  const reason = whyNotPrivateKeys(text);
  if (reason !== null) {
    const found = problem('id_token_keys_invalid', stdin ? '--stdin' : 'ID_TOKEN_KEYS', { reason });
    throw new InputError([describeProblem(found, (name) => name)]);
  }
  printRaw(publicIdTokenKeys(text));
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

/** Returns a time like `2026-11-22 19:00Z`. */
function minute(time: string | null): string | null {
  return time && `${time.slice(0, 16).replace('T', ' ')}Z`;
}
