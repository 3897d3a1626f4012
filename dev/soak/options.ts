import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { KINDS, type Kind, nameOf } from './plan.js';

export const USAGE = `npm run soak -- [--minutes N] [--seed N] [--faults NAME,…] [--json]

Uses two copies of each app for N minutes (15) while they and their servers are killed, stopped and cut off at random, and
holds every answer against a model. Ends with a table; exit code 1 when the service broke a promise.

  --seed N        the same faults in the same order, and the same choices of every actor
  --faults NAME,… only these: ${KINDS.map(nameOf).join(', ')}
  --json          prints the report as JSON
  --help          shows this
`;

export class UsageError extends Error {}

export interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly kinds: readonly Kind[];
  readonly json: boolean;
  readonly help: boolean;
}

/** @throws UsageError that says what is wrong */
export function readOptions(args: readonly string[]): Options {
  const type = 'string' as const;
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        minutes: { type, default: '15' },
        seed: { type, default: String(randomInt(2 ** 31)) },
        faults: { type },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
  const { json, help, faults } = values;
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  if (!(minutes > 0)) throw new UsageError('--minutes must be a number above 0');
  if (!Number.isInteger(seed)) throw new UsageError('--seed must be a whole number');
  const kinds = faults === undefined ? KINDS : faults.split(',').map(kindOf);
  return { minutes, seed, kinds, json, help };
}

function kindOf(name: string): Kind {
  const kind = KINDS.find((one) => nameOf(one) === name.trim());
  if (!kind) throw new UsageError(`--faults: there is no fault named '${name.trim()}'`);
  return kind;
}
