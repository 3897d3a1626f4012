import { NoPasswordError, NotRunningError, readRunFile, type RunFile } from './run-file.js';
import { StepFailure } from './step-failure.js';
import { Transcript } from './transcript.js';

/** Runs a demonstration against the running product and prints it. A failure sets exit code 1. */
export async function runScript(
  script: (run: RunFile, transcript: Transcript) => Promise<void>,
): Promise<void> {
  const colour = process.stdout.isTTY && !process.env['NO_COLOR'];
  const transcript = new Transcript((line) => process.stdout.write(`${line}\n`), colour);
  try {
    await script(await readRunFile(process.env), transcript);
  } catch (error) {
    const shown = error instanceof NotRunningError || error instanceof NoPasswordError;
    if (error instanceof StepFailure) transcript.failed(error);
    else process.stderr.write(`${shown ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
