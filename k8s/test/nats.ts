import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { freePort } from '#local/servers/free-port.js';
import { startGuarded } from '#local/servers/guarded-process.js';
import { type BackingService, startService } from '#local/servers/started-service.js';
import { serverEnvironment } from '#local/servers/find-server.js';
import { findTool } from '#test/support/tool.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { serverFile } from './settings.js';

export const MONITOR = 8222;

/** Starts NATS as in k8s/overlays/local and docker-compose.yml. @param host loopback address for clients */
export async function startNats(
  settings: string,
  host = '127.0.0.1',
): Promise<{ service: BackingService; monitor: number }> {
  const server = await findTool('nats-server');
  const monitor = await freePort();
  const { folder, file } = await serverFile('nats', settings, [
    [`${MONITOR}`, `${monitor}`],
    ['/data/jetstream', 'FOLDER/data'],
  ]);
  const passwords = await readFile(join(folder, 'settings/passwords.conf'), 'utf8');
  const password = /operator_password: "(\w+)"/.exec(passwords)?.[1] ?? '';
  const service = await startService('NATS', join(folder, 'log'), async (port) => {
    const url = `nats://operator:${password}@${host}:${port}`;
    const guarded = startGuarded({
      name: 'NATS',
      command: server.command,
      args: ['-c', file, '-a', host, '-p', String(port)],
      cwd: folder,
      env: serverEnvironment(server.libraryPath),
      logFile: join(folder, 'log'),
      signal: 'SIGTERM',
      grace: 3_000,
      remove: [folder],
    });
    const once = { timeout: 2_000, waitOnFirstConnect: false, reconnect: false, ignoreAuthErrorAbort: false };
    const reach = async (): Promise<void> =>
      (await connect({ ...natsOptions(url, 'test'), ...once })).close();
    return { url, process: guarded, connect: reach };
  });
  return { service, monitor };
}
