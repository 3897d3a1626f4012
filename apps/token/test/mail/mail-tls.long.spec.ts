import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { type Certificate, createCertificate } from '#test/support/certificate.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { startMailServer } from '#test/support/mail-server.js';
import { until } from '#test/support/until.js';

const WITHIN_MS = 60_000;

describe('a token app that trusts a private authority (NODE_EXTRA_CA_CERTS)', () => {
  let services: Isolated;
  let fixture: Fixture;
  let folder: string;
  let certificate: Certificate;

  beforeAll(async () => {
    services = await isolate();
    fixture = await openFixture(services, randomBytes(32).toString('base64url'));
    folder = await mkdtemp(join(tmpdir(), 'mail-'));
    certificate = await createCertificate(folder);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await fixture.close();
    await services.close();
  });

  it.each([
    ['smtps', 'implicit'],
    ['smtp', 'starttls'],
  ] as const)('logs in and sends by %s:// over TLS', async (scheme, mode) => {
    const mails = await startMailServer('127.0.0.2', 0, { certificate, mode });
    const [{ client_id: clientId }, userId] = [await fixture.client(), await fixture.user()];
    await fixture.sql('INSERT INTO client_owners VALUES ($1, $2)', [clientId, userId]);
    await fixture.sql(
      `INSERT INTO client_invitations (client_id, kind, token_hash, invited_by, email, expires_at)
       VALUES ($1, 'owner', sha256($2), $3, 'grace@example.com', now() + interval '7 days')`,
      [clientId, scheme, userId],
    );
    const app = await startApp('token', {
      ...appSettings(services),
      TOKEN_KEYS: randomBytes(32).toString('base64url'),
      DEVELOPERS_URL: 'https://developers.example.com',
      SMTP_URL: `${scheme}://oauth:s3cret@127.0.0.2:${mails.port}`,
      MAIL_FROM: 'oauth@product.example',
      NODE_EXTRA_CA_CERTS: certificate.file,
      LOG_LEVEL: 'fatal',
    });
    try {
      await until('a mail', WITHIN_MS, () => mails.received.length === 1);
      expect(mails.to('grace@example.com')).toHaveLength(1);
      const [, login = ''] = /^AUTH PLAIN (.+)$/m.exec(mails.commands.join('\n')) ?? [];
      expect(Buffer.from(login, 'base64').toString()).toBe('\0oauth\0s3cret');
      const verbs = new Set(mails.unencrypted.map((line) => line.split(' ')[0]));
      expect([...verbs]).toEqual(mode === 'starttls' ? ['EHLO', 'STARTTLS'] : []);
    } finally {
      await app.stop();
      await mails.close();
    }
  });
});
