// Loaded into an app by `node --import`. Reports memory usage after a forced collection.
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const path = process.env['FUZZ_PROBE'];

if (path !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const server = createServer((socket) => {
    collect();
    // Finalizers run after a collection and may free more: collect twice.
    setImmediate(() => {
      collect();
      socket.end(JSON.stringify(process.memoryUsage()));
    });
  });
  server.listen(path).unref();
}
