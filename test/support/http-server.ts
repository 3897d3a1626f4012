import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HttpServer = Awaited<ReturnType<typeof serve>>;

/** Starts an HTTP server on this machine, on a free port by default. */
export async function serve(listener: RequestListener, wantedPort = 0) {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(wantedPort, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: (): void => server.close().closeAllConnections(),
  };
}
