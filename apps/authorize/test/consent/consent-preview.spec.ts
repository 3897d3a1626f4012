import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsOptions } from '#messaging/nats.connection.js';
import { type ConsentPreviewReply, OPERATOR_SUBJECTS } from '#messaging/request-sender.js';
import { LOCALES } from '#oauth/locale.js';
import { authorizeAddress, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';

const { app } = useAuthorizeApp({});

let nats: NatsConnection;

beforeAll(async () => {
  nats = await connect(natsOptions(app.services.natsUrl, 'operator test'));
});

afterAll(() => nats.close());

async function preview(clientId: string, locale: string): Promise<ConsentPreviewReply['page']> {
  const request = JSON.stringify({ client_id: clientId, locale });
  const reply = await nats.request(OPERATOR_SUBJECTS.consentPreview, request, { timeout: 60_000 });
  return reply.json<ConsentPreviewReply>().page;
}

const comparable = (text: string, email: string): string =>
  text
    .replaceAll(email, 'ada@example.com')
    .replaceAll(/<script [^>]*><\/script>/g, '')
    .replaceAll(/(<[^>]*?) (?:href|action)="[^"]*"/g, '$1')
    .replaceAll(/(name="(?:csrf_token|form)" value|src)="[^"]*"/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' >', '>');

describe('the consent preview', () => {
  it.each(LOCALES)('shows the consent page in %s as a user sees it, without links', async (locale) => {
    const { clientId } = await app.client({
      scopes: ['profile:read', 'schedules:read'],
      optionalScopes: ['schedules:read'],
    });
    const user = await app.user();
    const address = authorizeAddress({
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      state: 's',
      scope: 'profile:read schedules:read',
      ui_locales: locale,
    });
    const shown = await (await app.loggedIn(user)).get(address);
    const page = await preview(clientId, locale);
    expect(comparable(page?.document ?? '', 'ada@example.com')).toBe(comparable(shown.text, user.email));
    expect(shown.headers['content-security-policy']).toContain(page?.style);
    expect(page?.document).not.toMatch(/<(?:a|form|script)[^>]*(?:href|action|src)=/);
  });

  it('refers to the logo by its path, and to nothing else of this site', async () => {
    const image = Buffer.from('iVBORw0KGgo=', 'base64');
    const { clientId, logo } = await app.client({ logo: { mediaType: 'image/png', image } });
    const { document = '' } = (await preview(clientId, 'en')) ?? {};
    expect(document.match(/"\/[^"]*"/g)).toEqual([`"/auth/logos/${logo}"`]);
  });

  it('is empty for an unknown application or language', async () => {
    const { clientId } = await app.client();
    expect([await preview('sc_unknown', 'en'), await preview(clientId, 'xx')]).toEqual([null, null]);
  });
});
