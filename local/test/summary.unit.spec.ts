import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackingServices } from '../servers/backing-services.js';
import { NoPasswordError, readRunFile } from '../demo/run-file.js';
import type { Account } from '../supervisor/demo-account.js';
import { writeRunFile } from '../supervisor/run-file.js';
import { readSettings } from '../supervisor/settings.js';
import { summary } from '../supervisor/summary.js';

const account: Account = {
  tokenKeys: 'keys',
  clientId: 'sc_demo',
  clientSecret: 'scs_demo',
  email: 'ada@example.com',
  password: 'demo-password',
};

test('npm start prints the demo user and the demo', () => {
  const printed = summary(readSettings({}, []), account, []);
  expect(printed).toContain('demo-password');
  expect(printed).toContain('npm run demo, npm run demo:operator, npx operator --help');
});

test.each([
  ['LOGIN_URL', 'http://localhost:3020/oauth-login'],
  ['LOGIN_ISSUER', 'https://login.example.com'],
])('with %s npm start prints where users log in, and no password', async (variable, loginAt) => {
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
