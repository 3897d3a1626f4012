// Runs built commands in one process: see run-operator.ts.
import 'reflect-metadata';
import { Readable } from 'node:stream';
import { runCommand } from '../../../../dist/apps/operator/src/program.js';

const { argv, env } = process;

async function run({ args, settings, stdin }) {
  const input = Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]);
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    process[name].write = (chunk) => {
      written[name] += chunk;
      return true;
    };
  }
  process.argv = [argv[0], 'operator', ...args];
  process.env = { PATH: env.PATH, ...settings };
  process.send({ code: await runCommand(), ...written });
}

process.on('message', (request) => void run(request));
