import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { ClientLogoStore } from '#clients/client-logo.store.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { OPERATOR_SUBJECTS } from '#messaging/request-sender.js';
import { LOCALES } from '#oauth/locale.js';
import { startAppInProcess, type AppInProcess } from '#test/support/app-in-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { type ConsoleApp, startConsoleApp } from '../support/start-console-app.js';

let services: Isolated;
let authorize: AppInProcess;
let fixture: Awaited<ReturnType<typeof openFixture>>;
let app: ConsoleApp;

beforeAll(async () => {
  services = await isolate();
  const TOKEN_KEYS = randomBytes(32).toString('base64url');
  authorize = await startAppInProcess('authorize', { ...appSettings(services), TOKEN_KEYS });
  fixture = await openFixture(services, TOKEN_KEYS);
  app = await startConsoleApp({}, services);
});

afterAll(async () => {
  await app.close();
  await authorize.stop();
  await fixture.close();
  await services.close();
});

it('the consent preview shows every language, in a frame without scripts or forms', async () => {
  const { client_id: id } = await fixture.client();
  const viewer = await app.operator('viewer');
  const page = await viewer.get(`/applications/${id}/consent?language=de`);
  expect(page.text).toMatch(
    new RegExp(`<iframe\\s+sandbox\\s+src="/applications/${id}/consent/de"\\s+title="[^"]+"`),
  );
  expect(page.headers['content-security-policy']).toContain("frame-src 'self'");

  const frame = await viewer.get(`/applications/${id}/consent/de`);
  expect(frame.text).toContain('</bdi> möchte auf Ihr Konto bei <bdi>Scheduling</bdi> zugreifen');
  expect(frame.headers).toMatchObject({ 'x-frame-options': 'SAMEORIGIN', 'content-language': 'de' });
  const policy = (frame.headers['content-security-policy'] ?? '').split('; ');
  expect(policy).toEqual(
    expect.arrayContaining(["default-src 'none'", "form-action 'none'", "frame-ancestors 'self'", 'sandbox']),
  );
  for (const locale of LOCALES) {
    const { headers } = await viewer.get(`/applications/${id}/consent/${locale}`);
    expect(headers['content-language']).toBe(locale);
  }
  expect((await viewer.get(`/applications/${id}/consent/xx`)).status).toBe(404);
  expect((await app.browser().get(`/applications/${id}/consent/de`)).status).toBe(303);
});

it('the consent preview contains the logo, also the largest', async () => {
  const image = randomBytes(MAX_LOGO_BYTES);
  const { client_id: id } = await fixture.client();
  await fixture.store(ClientLogoStore).set(id, { mediaType: 'image/png', image });
  const frame = await (await app.operator('viewer')).get(`/applications/${id}/consent/en`);
  expect(frame.text).toContain(`src="data:image/png;base64,${image.toString('base64')}"`);
  expect(frame.text).not.toContain('/auth/');
});

it('the consent preview refuses a style that would loosen the policy of the frame', async () => {
  const other = await startConsoleApp();
  const nats = await connect(natsOptions(other.services.natsUrl, 'a compromised authorize'));
  const page = {
    document: '<script>',
    style: "'none'; sandbox allow-scripts allow-same-origin; script-src *",
  };
  nats.subscribe(OPERATOR_SUBJECTS.consentPreview, {
    callback: (_error, message) => void message.respond(JSON.stringify({ page })),
  });
  const viewer = await other.operator('viewer');
  const frame = await viewer.get('/applications/any/consent/en');
  expect(frame.status).toBe(503);
  expect(frame.headers['content-security-policy']).not.toContain('allow-scripts');
  await nats.close();
  await other.close();
});
