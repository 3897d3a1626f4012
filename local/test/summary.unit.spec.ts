import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateIdTokenKeys, publicIdTokenKeys } from '#oauth/openid/generate-keys.js';
import type { BackingServices } from '../servers/backing-services.js';
import { NoPasswordError, readRunFile } from '../demo/run-script.js';
import { type Account, readSettings } from '../supervisor/settings.js';
import { summary, writeRunFile } from '../supervisor/summary.js';

const account: Account = {
  tokenKeys: 'keys',
  idTokenKeys: 'id token keys',
  clientId: 'sc_demo',
  clientSecret: 'scs_demo',
  consoleClientId: 'sc_console',
  consoleClientSecret: 'scs_console',
  email: 'ada@example.com',
  password: 'demo-password',
};

test('npm start prints the password of the demo user and the demo commands', () => {
  const printed = summary(readSettings({}, []), account, []);
  expect(printed).toContain('demo-password');
  expect(printed).toMatch(
    /^  OpenID discovery  http:\/\/localhost:3002\/\.well-known\/openid-configuration$/m,
  );
  expect(printed).not.toContain('id token keys');
  expect(printed).toContain('npm run demo, npx operator --help');
});

test.each([
  ['LOGIN_URL', 'http://localhost:3020/oauth-login'],
  ['LOGIN_ISSUER', 'https://login.example.com'],
])('with %s, npm start prints where users log in and prints no password', async (variable, loginAt) => {
  const settings = readSettings({ [variable]: loginAt }, []);
  const printed = summary(settings, account, []);
  expect(printed).toMatch(new RegExp(`^  log in at +${loginAt}$`, 'm'));
  expect(printed).not.toContain('demo-password');
  expect(printed).not.toContain('npm run demo');

  const folder = await mkdtemp(join(tmpdir(), 'run-file-'));
  try {
    const servers = { databaseUrl: '', redisUrl: '', natsUrl: '' } as BackingServices;
    await writeRunFile(join(folder, 'run.json'), settings, account, servers, [], undefined);
    const read = readRunFile({ LOCAL_DIR: folder });
    await expect(read).rejects.toThrow(NoPasswordError);
    await expect(read).rejects.toThrow(`Users log in at ${loginAt}, and the demo needs a password.`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('npm start rejects ID_TOKEN_KEYS that cannot sign, without printing the value', async () => {
  const keys = await generateIdTokenKeys();
  expect(readSettings({ ID_TOKEN_KEYS: keys }, []).idTokenKeys).toBe(keys);
  expect(() => readSettings({ ID_TOKEN_KEYS: publicIdTokenKeys(keys) }, [])).toThrow(
    'ID_TOKEN_KEYS must be private keys, which sign ID tokens',
  );
  expect(() => readSettings({ ID_TOKEN_KEYS: 'no key' }, [])).toThrow(
    'ID_TOKEN_KEYS is invalid: it is neither PEM nor a JWK',
  );
});
