import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asItsUser, type Ingress, type NginxPlace, startNginx } from './nginx.js';
import { ROOT } from './settings.js';

/** Hosts by port, and apps. */
interface Configuration {
  readonly file: string;
  readonly hosts: Readonly<Record<number, string>>;
  readonly apps: readonly string[];
}

const PUBLIC: Configuration = {
  file: 'deploy/nginx.conf',
  hosts: { 8441: 'auth.localhost', 8442: 'base.localhost', 8443: 'api.localhost' },
  apps: ['authorize:3001', 'token:3002', 'resource:3003'],
};
export const CONSOLE: Configuration = {
  file: 'deploy/nginx-console.conf',
  hosts: { 8444: 'console.localhost' },
  apps: ['console:3004'],
};
/** Nothing listens there. */
const NOBODY = '127.0.0.1:9';
/** The header that sets the client address of a request to the ingress of `tightComposeIngress`. */
export const FROM = 'x-from';

type Change = readonly [from: string | RegExp, to: string];

/**
 * Starts nginx with the configuration of docker-compose.yml, but with other files and ports, no app behind it, and limits that admit
 * two requests.
 */
export async function tightComposeIngress({ file, hosts, apps } = PUBLIC): Promise<Ingress> {
  const text = await readFile(join(ROOT, file), 'utf8');
  return startNginx(
    (place) => `daemon off;\n${asItsUser}\n${changed(text, file, changes(place, hosts, apps))}`,
  );
}

function changes(
  { folder, port, certificate, key }: NginxPlace,
  hosts: Readonly<Record<number, string>>,
  apps: readonly string[],
): Change[] {
  return [
    ['/tmp/', `${folder}/`],
    ['/dev/stderr', `${folder}/error.log`],
    ['/dev/stdout', `${folder}/access.log`],
    ['/settings/tls.crt', certificate],
    ['/settings/tls.key', key],
    // One port for all hosts: the names distinguish them.
    ...Object.entries(hosts).map(([own, host]): Change => [
      `listen ${own} ssl;`,
      `listen 127.0.0.1:${port} ssl; server_name ${host};`,
    ]),
    ...apps.map((app): Change => [app, NOBODY]),
    ['resolver 127.0.0.11 valid=2s;', `set_real_ip_from 127.0.0.1; real_ip_header ${FROM};`],
    [/rate=\d+r\/s/, 'rate=1r/m'],
    [/burst=\d+/, 'burst=1'],
  ];
}

function changed(text: string, file: string, all: readonly Change[]): string {
  return all.reduce((before, [from, to]) => {
    const after = before.replaceAll(from instanceof RegExp ? new RegExp(from, 'g') : from, to);
    if (after === before) throw new Error(`${file} does not say ${String(from)}`);
    return after;
  }, text);
}
