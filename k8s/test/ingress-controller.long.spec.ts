import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startIngress, type ControllerSettings } from './ingress.js';
import { all } from './manifests.js';
import { type Ingress, lines } from './nginx.js';
import { type Manifest, OVERLAYS, render } from './render.js';
import { problemsOf } from './schema.js';
import { ROOT } from './settings.js';

const HOSTS = { auth: '/auth/login', base: '/api/auth/oauth/token', api: '/v2/me' };

/** Returns the data of the controller's ConfigMap in docs/deploy.md. */
async function documentedSettings(): Promise<ControllerSettings> {
  const page = await readFile(join(ROOT, 'docs/deploy.md'), 'utf8');
  const part = page.split('\n### The ingress controller\n')[1]?.split('\n## ')[0] ?? '';
  const block = /^```yaml\n(.*?)^```$/ms.exec(part)?.[1] ?? '';
  return (parse(block) as { data: ControllerSettings }).data;
}

async function withNetworks(overlay: string): Promise<Manifest[]> {
  const path = `overlays/${overlay}`;
  return render(path, async (folder) => {
    const edit = async (name: string, from: RegExp, to: string): Promise<void> => {
      const file = join(folder, name);
      const text = await readFile(file, 'utf8');
      expect(text).toMatch(from);
      await writeFile(file, text.replace(from, to));
    };
    await edit(`${path}/kustomization.yaml`, /\ncomponents:\n/, '$&  - ../../components/client-networks\n');
    for (const app of ['authorize', 'token', 'resource']) {
      await edit(`base/${app}/ingress.yaml`, /rate: \d+r\/s/, 'rate: 1r/m');
      await edit(`base/${app}/ingress.yaml`, /burst: '\d+'/, "burst: '1'");
    }
  });
}

describe.each(OVERLAYS)('the %s overlay with the component for client networks', (overlay) => {
  it('is valid, and limits requests only by client network', async () => {
    const manifests = await withNetworks(overlay);
    expect(await problemsOf(manifests)).toEqual([]);
    const keys = all(manifests, 'Ingress')
      .filter(({ metadata }) => metadata?.name !== 'console')
      .map(({ metadata }) => metadata?.annotations?.['nginx.org/limit-req-key']);
    expect(keys).toEqual(['${client_network}', '${client_network}', '${client_network}']);
  });
});

describe('an ingress controller with the ConfigMap of docs/deploy.md', () => {
  let settings: ControllerSettings;
  let ingress: Ingress;
  beforeAll(async () => {
    settings = await documentedSettings();
    const nobody = 'http://127.0.0.1:9';
    const backends = { authorize: nobody, token: nobody, resource: nobody };
    const realIp = 'set_real_ip_from 127.0.0.1; real_ip_header x-from;';
    const snippets = `${settings['http-snippets']}\n${realIp}`;
    ingress = await startIngress(await withNetworks('local'), backends, {
      ...settings,
      'http-snippets': snippets,
    });
  });
  afterAll(() => ingress?.stop());

  it('counts an IPv6 /64 as one client and logs no query', async () => {
    for (const [host, path] of Object.entries(HOSTS)) {
      const limited: boolean[] = [];
      for (const address of [
        '2001:db8:0:1::1',
        '2001:db8:0:1::2',
        '2001:db8:0:1:a:b:c:d',
        '2001:db8:0:2::1',
      ]) {
        const headers = { 'x-from': address, referer: 'https://typed.example/' };
        const url = `https://${host}.localhost${path}?state=typed&login_hint=typed`;
        limited.push((await ingress.ask(url, { headers })).status === 429);
      }
      expect([host, limited]).toEqual([host, [false, false, true, false]]);
    }
    const log = await lines(ingress, 12);
    expect(log.filter((line) => line.includes(' base.localhost/api/auth/oauth/token 503 '))).toHaveLength(3);
    expect(log.filter((line) => line.includes(' auth.localhost/auth/login 429 '))).toHaveLength(1);
    expect(log.join('\n')).not.toMatch(/typed|state/);
  });

  it('uses the same map as deploy/nginx.conf', async () => {
    const map = /^ *map \$binary_remote_addr .*?\}$(?=\n *limit_req_zone)/ms;
    const plain = (text = ''): string => text.replaceAll(/^ +/gm, '').trim();
    const compose = map.exec(await readFile(join(ROOT, 'deploy/nginx.conf'), 'utf8'))?.[0];
    expect(compose).toContain('client_network');
    expect(plain(settings['http-snippets'])).toContain(plain(compose));
  });
});
