import { CommandFactory } from 'nest-commander';
import { reportFailure } from './command-line/report-failure.js';
import { OperatorModule } from './operator.module.js';

/** Runs the command of `process.argv`. @returns the exit code */
export async function runCommand(): Promise<number> {
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
