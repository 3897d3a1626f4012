import 'reflect-metadata';
import { CommandFactory } from 'nest-commander';
import { reportFailure } from './command-line/report-failure.js';
import { OperatorModule } from './operator.module.js';

// A reader that left early (`… | head -1`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

/** Runs the command of the arguments. @returns the exit code */
async function main(): Promise<number> {
  const rethrow = (error: Error): never => {
    throw error;
  };
  try {
    const app = await CommandFactory.createWithoutRunning(OperatorModule, {
      logger: false,
      abortOnError: false,
      serviceErrorHandler: rethrow,
    });
    await CommandFactory.runApplication(app);
    await app.close();
    return 0;
  } catch (error) {
    return reportFailure(error);
  }
}

const code = await main();
// Ended by hand once everything is written: a socket that a timed-out attempt to connect left open, or input
// that nobody read, must not keep the operator waiting.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
