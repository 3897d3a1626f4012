import 'reflect-metadata';
import { runCommand } from './run-command.js';

// A reader that left early (`… | head -1`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const code = await runCommand();
// Ended by hand once everything is written: a socket that a timed-out attempt to connect left open, or input
// that nobody read, must not keep the operator waiting.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
