import 'reflect-metadata';
import { runCommand } from './program.js';

// A reader that stops early (`… | head -1`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

void runCommand().then((code) => {
  // Exit explicitly once all output is written: an unfinished attempt to connect, or unread input, would keep the process
  // alive.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
