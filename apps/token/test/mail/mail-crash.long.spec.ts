import { randomBytes } from 'node:crypto';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { type MailServer, startMailServer } from '#test/support/mail-server.js';
import { until } from '#test/support/until.js';

const WITHIN_MS = 60_000;

describe('a token app that is killed after sending a mail', () => {
  let services: Isolated;
  let fixture: Fixture;
  let mails: MailServer;
  const running: AppProcess[] = [];

  beforeAll(async () => {
    services = await isolate();
    mails = await startMailServer();
    fixture = await openFixture(services, randomBytes(32).toString('base64url'));
  });
  afterAll(async () => {
    await Promise.all(running.map((app) => app.stop()));
    await mails.close();
    await fixture.close();
    await services.close();
  });

  // @reliability mails
  it('leaves the mail to another one, which sends it with the same Message-ID and link', async () => {
    const [{ client_id: clientId }, userId] = [await fixture.client(), await fixture.user()];
    await fixture.sql('INSERT INTO client_owners VALUES ($1, $2)', [clientId, userId]);
    await fixture.sql(
      `INSERT INTO client_invitations (client_id, kind, token_hash, invited_by, email, expires_at)
       VALUES ($1, 'owner', sha256('x'), $2, 'grace@example.com', now() + interval '7 days')`,
      [clientId, userId],
    );
    const start = async (env: Record<string, string>) => {
      const app = await startApp('token', { ...appSettings(services), ...env });
      running.push(app);
      return app;
    };
    const env = {
      TOKEN_KEYS: randomBytes(32).toString('base64url'),
      DEVELOPERS_URL: 'https://developers.example.com',
      SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
      MAIL_FROM: 'oauth@product.example',
      LOG_LEVEL: 'fatal',
    };
    // The mail server has the mail, and does not answer before the process is dead.
    const answer = mails.hold('MESSAGE');
    const killed = await start(env);
    await until('a mail', WITHIN_MS, () => mails.received.length === 1);
    process.kill(killed.process.pid, 'SIGKILL');
    await killed.process.ended;
    answer();
    // Ends the lease of the killed process, for which the others would wait.
    const leases = await fixture.sql('UPDATE mails SET due_at = now() WHERE due_at > now() RETURNING 1');
    expect(leases).toHaveLength(1);
    await Promise.all([start(env), start(env)]);
    await until('the end', WITHIN_MS, async () => {
      const [mail] = (await fixture.sql('SELECT outcome FROM mails')) as { outcome: string | null }[];
      return mail?.outcome === 'sent';
    });
    const [first, second, ...more] = mails.received;
    expect(more).toEqual([]);
    expect(second?.headers['message-id']).toBe(first?.headers['message-id']);
    expect(second?.text).toBe(first?.text);
  });
});
