import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { generateIdTokenKeys, publicIdTokenKeys } from '#oauth/openid/signing-keys.js';
import { importantLines } from '../supervisor/app.js';
import type { BackingServices } from '../servers/backing-services.js';
import { NoPasswordError, readRunFile } from '../demo/run-script.js';
import { type Account, readSettings } from '../supervisor/settings.js';
import { summary, writeRunFile } from '../supervisor/summary.js';
import { type Progress, progressOn } from '../servers/progress.js';
import { localFolder } from '../servers/service-folder.js';

const line = (level: number, msg: string): string => `${JSON.stringify({ level, msg })}\n`;

describe('the log output of npm start', () => {
  let shown: string[];
  let time: number;
  let take: (text: string) => void;

  beforeEach(() => {
    shown = [];
    time = 0;
    take = importantLines(
      'token',
      (text) => shown.push(text),
      () => time,
    );
  });

  it('contains warnings, errors and lines that are not JSON, even if lines arrive in parts', () => {
    const text = `${line(30, 'answered')}${line(40, 'Redis is slow')}a stack\n${line(50, 'broken')}`;
    for (const piece of text.match(/.{1,7}/gs) ?? []) take(piece);
    expect(shown).toEqual(['token: warning: Redis is slow', 'token: a stack', 'token: error: broken']);
  });

  it('contains a repeated line at most once in 30 s', () => {
    for (time = 0; time <= 30_000; time += 1_000) take(line(40, 'Redis: refused'));
    expect(shown).toEqual(['token: warning: Redis: refused', 'token: warning: Redis: refused']);
  });

  it('contains a line again after a different line', () => {
    for (const msg of ['gone', 'back', 'gone']) take(line(40, msg));
    expect(shown).toEqual(['token: warning: gone', 'token: warning: back', 'token: warning: gone']);
  });
});

describe('summary', () => {
  const account: Account = {
    tokenKeys: 'keys',
    idTokenKeys: 'id token keys',
    clientId: 'sc_demo',
    clientSecret: 'scs_demo',
    consoleClientId: 'sc_console',
    consoleClientSecret: 'scs_console',
    developersClientId: 'sc_developers',
    developersClientSecret: 'scs_developers',
    email: 'ada@example.com',
    password: 'demo-password',
  };

  test('npm start prints the password of the demo user and the demo commands', () => {
    const printed = summary(readSettings({}, []), account, [], true);
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
    const printed = summary(settings, account, [], true);
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
});

describe('progress', () => {
  let now = 0;

  function written(isTTY: boolean, report: (progress: Progress) => void): string {
    const stream = new PassThrough({ encoding: 'utf8' });
    report(progressOn(Object.assign(stream, { isTTY }) as unknown as WriteStream, () => now));
    return String(stream.read());
  }

  it('overwrites one line on a terminal', () => {
    const text = written(true, (progress) => {
      progress('downloading');
      progress('1 of 3 MB', true);
      progress('2 of 3 MB', true);
      progress('unpacking');
    });
    const over = '\u001b[1G\u001b[2K';
    expect(text).toBe(`downloading\n1 of 3 MB${over}2 of 3 MB${over}unpacking\n`);
  });

  it('writes a line every five seconds elsewhere', () => {
    const text = written(false, (progress) => {
      progress('downloading');
      for (now = 0; now <= 11_000; now += 1_000) progress(`${now} of 12000`, true);
      progress('unpacking');
    });
    expect(text).toBe('downloading\n5000 of 12000\n10000 of 12000\nunpacking\n');
  });
});

describe('local folder', () => {
  let parent: string;
  beforeEach(async () => (parent = await mkdtemp(join(tmpdir(), 'local-folder-'))));
  afterEach(async () => rm(parent, { recursive: true }));

  const modeOf = async (folder: string) => (await stat(folder)).mode & 0o777;

  describe('the folder of data, logs and secrets', () => {
    it('can be traversed by other users only if PostgreSQL runs as another user', async () => {
      const folder = join(parent, '.local');
      await localFolder(folder);
      expect(await modeOf(folder)).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
    });

    it('keeps the mode that its owner gave it', async () => {
      await chmod(parent, 0o750);
      await localFolder(parent);
      expect(await modeOf(parent)).toBe(0o750);
    });
  });
});
