import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { startBackingServices } from '#local/servers/backing-services.js';
import { progressOn } from '#local/servers/progress.js';
import type { Isolated } from '#test/support/isolate.js';

export class UsageError extends Error {}

type Values<Defaults> = {
  -readonly [Name in keyof Defaults]: Defaults[Name] extends boolean ? boolean : string;
} & { help: boolean };

/**
 * Parses options, each of which has the type of its default, and `--help`.
 * @throws UsageError for an unknown option, a missing value or an operand
 */
export function parseOptions<Defaults extends Readonly<Record<string, string | boolean>>>(
  defaults: Defaults,
  args = process.argv.slice(2),
): Values<Defaults> {
  const options = Object.fromEntries(
    Object.entries({ ...defaults, help: false }).map(([name, value]) => [
      name,
      { type: typeof value as 'string' | 'boolean', default: value },
    ]),
  );
  try {
    return parseArgs({ args, options }).values as Values<Defaults>;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

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

/** Starts private servers with a migrated database. Ignores servers in the environment. */
export async function startPrivateServices(): Promise<Isolated> {
  // Imported on demand, because most runs of tests only read options.
  const [{ migrate }, { createTrail }] = await Promise.all([
    import('#database/migrate.js'),
    import('#test/support/isolate.js'),
  ]);
  const services = await startBackingServices({
    env: { PATH: process.env['PATH'] },
    directory: resolve('.local'),
    persistent: false,
    progress: progressOn(process.stderr),
  });
  await migrate(services.databaseUrl);
  // Without a stream, each app would buffer up to 16 million characters of audit events.
  await createTrail(services.natsUrl);
  return { ...services, close: () => services.stop() };
}
