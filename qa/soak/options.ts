import { randomInt } from 'node:crypto';
import { parseOptions, UsageError } from '../command.js';
import { FAULT_KINDS, type FaultKind, faultName } from './plan.js';

export const USAGE = `npm run soak -- [--minutes N] [--seed N] [--faults NAME,…] [--json]

Uses two replicas of each app for N minutes (default 15) while they and their servers are killed, stopped and cut off at
random, and checks every answer against a model. Ends with a table. The exit code is 1 if a guarantee was violated.

  --seed N        repeats the faults and every actor's choices
  --faults NAME,… only these faults: ${FAULT_KINDS.map(faultName).join(', ')}
  --json          prints the report as JSON
  --help          prints this help
`;

export interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly kinds: readonly FaultKind[];
  readonly json: boolean;
  readonly help: boolean;
}

/** @throws UsageError */
export function readOptions(args: readonly string[]): Options {
  const type = 'string' as const;
  const { values } = parseOptions({
    args: [...args],
    options: {
      minutes: { type, default: '15' },
      seed: { type, default: String(randomInt(2 ** 31)) },
      faults: { type },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { json, help, faults } = values;
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  if (!(minutes > 0)) throw new UsageError('--minutes must be a number above 0');
  if (!Number.isInteger(seed)) throw new UsageError('--seed must be a whole number');
  const kinds = faults === undefined ? FAULT_KINDS : faults.split(',').map(faultKindOf);
  return { minutes, seed, kinds, json, help };
}

function faultKindOf(name: string): FaultKind {
  const kind = FAULT_KINDS.find((candidate) => faultName(candidate) === name.trim());
  if (!kind) throw new UsageError(`--faults: there is no fault named '${name.trim()}'`);
  return kind;
}
