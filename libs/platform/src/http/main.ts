import { ConfigurationError } from '../configuration/configuration.error.js';

/** Runs a process's main function: what stops it from starting is one message for the operator and exit code 1. */
export function main(run: () => Promise<unknown>): void {
  run().catch((error: unknown) => {
    const text =
      error instanceof ConfigurationError
        ? error.message
        : error instanceof Error
          ? error.stack
          : String(error);
    process.stderr.write(`${text}\n`, () => process.exit(1));
  });
}
