import { parseArgs } from 'node:util';

export class UsageError extends Error {}

/** @throws UsageError instead of the errors of `parseArgs` */
export const parseOptions: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
};

/** Runs a command. Prints its usage for --help or invalid options. @param run returns the exit code */
export async function runTool<Options extends { readonly help: boolean }>(
  usage: string,
  readOptions: () => Options,
  run: (options: Options) => Promise<number>,
): Promise<void> {
  try {
    const options = readOptions();
    if (options.help) process.stdout.write(usage);
    else process.exitCode = await run(options);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`error: ${error.message}\n\n${usage}`);
    process.exitCode = 2;
  }
}
