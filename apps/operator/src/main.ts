import 'reflect-metadata';
import { runCommand } from './program.js';

// A reader may close the pipe early (`… | head -1`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

void runCommand().then((code) => {
  // Exits after all output is written, because a pending connection or unread input would keep the process alive.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
