import { useOperatorBench } from '../support/operator-bench.js';
import { expectRefused, jsonOf } from '../support/run-operator.js';

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
const CALLBACK = 'http://127.0.0.1/callback';

const bench = useOperatorBench();
const client = (args: readonly string[], stdin = '') =>
  bench.run(['client', ...args], { ...bench.env, API_URL: 'https://api.example.com' }, stdin);
const created = async (...args: readonly string[]) =>
  jsonOf(await client(['create', '--name', 'Display', '--public', '--json', ...args])) as {
    client_id: string;
  };
const shown = async (id: string) => jsonOf(await client(['show', id, '--json']));

describe('operator client create --grant device', () => {
  it('registers a device without redirect URIs, and prints the device authorization URL', async () => {
    const device = await created('--grant', 'device');
    expect(device).toMatchObject({
      device_authorization_url: 'https://api.example.com/api/auth/oauth/device_authorization',
    });
    expect(await shown(device.client_id)).toMatchObject({ grant_types: [DEVICE_CODE], redirect_uris: [] });
    const { stdout: markdown } = await client(['handover', device.client_id]);
    expect(markdown).toContain(`-d grant_type=${DEVICE_CODE}`);
    for (const other of ['redirect_uri', '| authorization URL', 'PKCE'])
      expect(markdown).not.toContain(other);
  });

  it('registers a tool that uses both grants, and removes the device grant later', async () => {
    const { client_id: id } = await created('--grant', 'device', '--redirect-uri', CALLBACK);
    expect(await shown(id)).toMatchObject({ grant_types: ['authorization_code', DEVICE_CODE] });
    const { stdout: markdown } = await client(['handover', id]);
    for (const type of ['authorization_code', DEVICE_CODE])
      expect(markdown).toContain(`-d grant_type=${type}`);
    await client(['update', id, '--grant', 'code']);
    expect((await client(['handover', id])).stdout).not.toContain(DEVICE_CODE);
    expect(await shown(id)).not.toHaveProperty('grant_types');
    await client(['update', id, '--grant', 'device']);
    expect(await shown(id)).toMatchObject({ grant_types: ['authorization_code', DEVICE_CODE] });
  });

  it.each<[RegExp, readonly string[]]>([
    [/--redirect-uri is missing/, ['--grant', 'code']],
    [/--redirect-uri is missing: the subjects/, ['--grant', 'device', '--subject', 'pairwise']],
    [/--grant must be/, ['--grant', 'password']],
  ])('refuses invalid input with the error %s', async (problem, args) => {
    expectRefused(await client(['create', '--name', 'Display', '--public', ...args]), problem);
  });

  it('requires a redirect URI before another grant or pairwise subjects', async () => {
    const { client_id: id } = await created('--grant', 'device');
    expectRefused(await client(['update', id, '--grant', 'code']), /no redirect URI would be left/);
    expectRefused(await client(['update', id, '--subject', 'pairwise']), /redirect URI is missing/);
  });
});

it('a client file contains the device grant', async () => {
  const { client_id: id } = await created('--grant', 'device');
  const { stdout: exported } = await client(['export']);
  expect(exported).toContain(`- ${DEVICE_CODE}`);
  const renamed = exported.replaceAll(id, `${id.slice(0, -1)}${id.endsWith('a') ? 'b' : 'a'}`);
  expect((await client(['import', '-'], renamed)).code).toBe(0);
  expectRefused(await client(['import', '-'], renamed.replaceAll(DEVICE_CODE, 'password')), /grant_types/);
});
