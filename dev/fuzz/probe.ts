// Loaded into an app's process before its own code (`node --import`): tells what memory is left after a forced collection.
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const path = process.env['FUZZ_PROBE'];

if (path !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const server = createServer((socket) => {
    collect();
    // What ends by a collection may free more: finalizers run between two of them.
    setImmediate(() => {
      collect();
      socket.end(JSON.stringify(process.memoryUsage()));
    });
  });
  server.listen(path).unref();
}
