// Loaded into each app by `node --import`. Forces a garbage collection, then reports memory usage.
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const path = process.env['FUZZ_PROBE'];

if (path !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const server = createServer((socket) => {
    collect();
    // Finalizers run after the first collection and may allow a second one to free more.
    setImmediate(() => {
      collect();
      socket.end(JSON.stringify(process.memoryUsage()));
    });
  });
  server.listen(path).unref();
}
