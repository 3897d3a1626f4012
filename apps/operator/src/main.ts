import 'reflect-metadata';
import { runCommand } from './program.js';

// A reader may close the pipe early (`… | head -1`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

void runCommand().then((code) => {
  // Exits explicitly, because a pending connection or unread input would keep the process alive. The callbacks wait
  // until all output is written.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
