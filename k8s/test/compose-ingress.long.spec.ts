import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asItsUser, type Ingress, type NginxPlace, startNginx, lines } from './nginx.js';
import { ROOT } from './settings.js';
import { addressNetwork } from '#platform/http/client-address.js';

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
const CONSOLE: Configuration = {
  file: 'deploy/nginx-console.conf',
  hosts: { 8444: 'console.localhost' },
  apps: ['console:3004'],
};
/** Address on which no server listens. */
const NOBODY = '127.0.0.1:9';
/** Request header with the client address, which the ingress of `tightComposeIngress` trusts. */
const FROM = 'x-from';

type Change = readonly [from: string | RegExp, to: string];

/**
 * Starts nginx as in docker-compose.yml, with other files and ports, with limits of two requests, and without apps.
 */
async function tightComposeIngress({ file, hosts, apps } = PUBLIC): Promise<Ingress> {
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
    // All hosts share one port, because server names distinguish them.
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

const URLS = [
  'https://auth.localhost/auth/login',
  'https://base.localhost/api/auth/oauth/token',
  'https://api.localhost/v2/me',
];
/** Addresses by group. The third group contains line feeds as bytes, the last one IPv4 addresses in both forms. */
const ADDRESSES = [
  '2001:db8:1:2::1 2001:db8:1:2::2 2001:db8:1:2:a:b:c:d 2001:db8:1:2:ffff:: 2001:db8:1:3::1 2001:db8:1:3:a:b:c:d',
  '2001:db8::1 2001:db8:0:0:1:: 2001:db8::1:2:3:4 2001:db8:0:a::1 ::1',
  '2001:db8:a0a:a0a::a 2001:db8:a0a:a0a::1 2001:db8:a0a:a0a:a0a:a0a:a0a:a0a',
  '192.0.2.1 192.0.2.2 192.0.2.1 ::ffff:192.0.2.1 ::ffff:192.0.2.3',
].flatMap((some) => some.split(' '));

describe('the ingress of docker-compose.yml without apps', () => {
  let ingress: Ingress;
  beforeEach(async () => {
    ingress = await tightComposeIngress();
  });
  afterEach(() => ingress?.stop());

  it.each(URLS)(
    'limits requests to %s per client network, and groups addresses as the login throttle does',
    async (url) => {
      const seen = new Map<string, number>();
      for (const address of ADDRESSES) {
        const network = addressNetwork(address);
        const count = (seen.get(network) ?? 0) + 1;
        seen.set(network, count);
        const { status } = await ingress.ask(url, { headers: { [FROM]: address } });
        expect([address, status === 429]).toEqual([address, count > 2]);
      }
    },
  );

  it('logs the app and status of each request, but no query', async () => {
    const query = 'state=typed-1&login_hint=typed-2&request_uri=typed-3&access_token=typed-4';
    for (const url of URLS)
      for (let n = 0; n < 4; n += 1) await ingress.ask(`${url}?${query}`, { headers: { referer: query } });
    const log = await lines(ingress, 12);
    expect(log.filter((line) => line.includes(' /auth/login 502 '))).toHaveLength(2);
    expect(log.filter((line) => / \/auth\/login 429 .* - -$/.test(line))).toHaveLength(2);
    expect(log.filter((line) => / 50[23] [\d.]+ 127\.0\.0\.1:9 502$/.test(line))).toHaveLength(6);
    expect(log.join('\n')).not.toMatch(/typed|state|login_hint|request_uri/);
  });

  it('logs no query of a request that is too large or malformed', async () => {
    const [url = ''] = URLS;
    const body = 'x'.repeat(200 * 1024);
    expect((await ingress.ask(`${url}?state=typed`, { method: 'POST', body })).status).toBe(413);
    const headers = { 'x-large': 'x'.repeat(40_000) };
    expect((await ingress.ask(`${url}?state=typed`, { headers })).status).toBe(400);
    expect((await lines(ingress, 2)).join('\n')).not.toContain('typed');
  });
});

describe('the ingress of the console in docker-compose.yml without the console', () => {
  it('limits requests and logs no query', async () => {
    const ingress = await tightComposeIngress(CONSOLE);
    try {
      const ask = async () => (await ingress.ask('https://console.localhost/login?state=typed')).status;
      expect([await ask(), await ask(), await ask()]).toEqual([502, 502, 429]);
      expect((await lines(ingress, 3)).join('\n')).not.toContain('typed');
    } finally {
      await ingress.stop();
    }
  });
});
