import { runDemo } from './demo/run-demo.js';
import { NoPasswordError, NotRunningError, readRunFile } from './demo/run-file.js';
import { StepFailure } from './demo/step-failure.js';
import { Transcript } from './demo/transcript.js';

const colour = process.stdout.isTTY && !process.env['NO_COLOR'];
const transcript = new Transcript((line) => process.stdout.write(`${line}\n`), colour);

try {
  await runDemo(await readRunFile(process.env), transcript);
} catch (error) {
  const shown = error instanceof NotRunningError || error instanceof NoPasswordError;
  if (error instanceof StepFailure) transcript.failed(error);
  else process.stderr.write(`${shown ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
