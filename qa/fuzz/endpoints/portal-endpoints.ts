import { COPY_SCRIPT_PATH } from '#pages/copy-script.js';
import { ICON_PATH } from '#pages/page.responder.js';
import { bit, choose, draft, type Endpoint, endpointsOf } from './endpoint.js';

type Fields = Readonly<Record<string, string>>;
type Ids = Readonly<Record<string, string>>;

const endpoint = endpointsOf('developers');

const get = (path: string, statuses: readonly number[], query: Fields = {}): Endpoint =>
  endpoint(`GET ${path}`, statuses, async (actor) => draft(actor, 'developers', ['GET', path], { query }));

function filled(path: string, ids: Ids): string {
  const [, noun = ''] = path.split('/');
  const own = { ...ids, id: ids[noun] ?? '' };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(own[name as 'id'] ?? ''));
}

/** @param query depends on the variant */
function page(path: string, query: (variant: number) => Fields = () => ({}), status = 200): Endpoint {
  // The authorize app also has a route `GET /`.
  const name = path === '/' ? 'GET /: the portal' : `GET ${path}`;
  return endpoint(name, [status], async (actor, variant) => {
    const { login, ids } = await actor.portal(false);
    const parts = { query: query(variant), headers: { Cookie: login.cookies, 'Accept-Language': 'ar' } };
    return draft(actor, 'developers', ['GET', filled(path, ids)], parts);
  });
}

function form(path: string, statuses: readonly number[], fields: (variant: number) => Fields): Endpoint {
  return endpoint(`POST ${path}`, statuses, async (actor, variant) => {
    const { login, ids } = await actor.portal(path.includes('{'));
    const address = filled(path, ids);
    return draft(actor, 'developers', ['POST', address], {
      headers: { Cookie: login.cookies },
      form: { ...login.fieldsOf(address), ...fields(variant) },
    });
  });
}

const content = (variant: number): Fields => ({
  version: '1',
  name: choose(variant, 0, ['Rooms', '=1+1', '<b>Rooms</b>', '']),
  purpose: 'Finds rooms.\nOften.',
  clientUri: bit(variant, 2) ? 'https://rooms.example.com' : '',
  policyUri: 'https://rooms.example.com/privacy',
  termsUri: '',
  contacts: 'help@rooms.example.com',
  application: choose(variant, 3, ['server', 'browser', 'native', 'device']),
  redirectUris: choose(variant, 5, ['https://rooms.example.com/cb', 'com.example.rooms:/cb', 'http://x']),
  'reason:profile:read': 'Shows the name.',
  logo_data: bit(variant, 7) ? 'AAAA' : '',
});

const sent = (variant: number): Fields => ({
  ...content(variant),
  action: choose(variant, 8, ['submit', 'save', 'send', 'edit']),
});

export const PORTAL_ENDPOINTS: readonly Endpoint[] = [
  get(ICON_PATH, [200]),
  get(COPY_SCRIPT_PATH, [200]),
  get('/login', [200], { page: '/requests/new' }),
  get('/login/callback', [400], { code: 'sac_code', state: 'state' }),
  get('/logged-out', [200]),
  endpoint('POST /logout', [200, 403], async (actor) => {
    const { login } = await actor.portal(true);
    actor.forgetPortal();
    const parts = { headers: { Cookie: login.cookies }, form: login.fieldsOf('/logout') };
    return draft(actor, 'developers', ['POST', '/logout'], parts);
  }),
  get('/invitation', [303], { token: 'A'.repeat(43) }),
  page('/invitation/accept', () => ({}), 404),
  form('/invitation/accept', [404], () => ({})),
  page('/', (variant) => ({ note: choose(variant, 0, ['changed', 'toString', '']) })),
  page('/requests/new'),
  form('/requests', [200, 201, 303, 400, 409], sent),
  page('/requests/{id}'),
  form('/requests/{id}', [409], sent),
  form('/requests/{id}/messages', [303], () => ({ version: '1', text: 'Hello.\n<b>' })),
  form('/requests/{id}/withdraw', [409], () => ({ version: '1' })),
  form('/requests/{id}/again', [409], () => ({})),
  page('/applications/{id}'),
  page('/applications/{id}/integrate'),
  page('/applications/{id}/history', (variant) => ({ before: choose(variant, 0, ['1', '', '-1']) })),
  page('/applications/{id}/activity', (variant) => ({
    since: choose(variant, 0, ['', '2026-11-22T18:00']),
    cause: choose(variant, 2, ['', 'code_expired']),
  })),
  endpoint('GET /applications/{id}/activity/{refusal}', [404], async (actor) => {
    const { login, ids } = await actor.portal(false);
    const path = filled('/applications/{id}/activity/1', ids);
    return draft(actor, 'developers', ['GET', path], { headers: { Cookie: login.cookies } });
  }),
  page('/applications/{id}/events', (variant) => ({ before: choose(variant, 0, ['1', '', '-1']) })),
  form('/applications/{id}/events/enable', [303], () => ({})),
  form('/applications/{id}/events/{jti}/redeliver', [404], () => ({})),
  page('/applications/{id}/try'),
  form('/applications/{id}/try', [303], () => ({ redirect_uri: 'https://elsewhere.example/callback' })),
  form('/applications/{id}/try/return', [409], () => ({
    address: 'https://elsewhere.example/callback?code=a',
  })),
  form('/applications/{id}/try/{step}', [409], () => ({ client_secret: 'scs_wrong' })),
  page('/applications/{id}/change'),
  form('/applications/{id}/change', [200, 303, 400, 409], sent),
  page('/applications/{id}/delete'),
  form('/applications/{id}/delete', [303], () => ({})),
  page('/applications/{id}/secrets/new'),
  form('/applications/{id}/secrets', [201], (variant) => ({ days: choose(variant, 0, ['', '30', '365']) })),
  page('/applications/{id}/secrets/{secret}/revoke'),
  form('/applications/{id}/secrets/{secret}/revoke', [303], () => ({})),
  page('/applications/{id}/keys'),
  page('/applications/{id}/keys/change'),
  // The application has a secret, or the version is another one.
  form('/applications/{id}/keys', [400, 409], (variant) => ({
    version: '1',
    ...choose<Fields>(variant, 0, [
      { jwks: '{"keys":[{"kty":"EC","d":"private"}]}' },
      { jwksUri: 'https://rooms.example.com/jwks' },
    ]),
  })),
  page('/applications/{id}/keys/remove'),
  form('/applications/{id}/keys/remove', [303], () => ({})),
  page('/applications/{id}/team'),
  form('/applications/{id}/invitations', [201, 409], (variant) => ({
    kind: bit(variant, 0) ? 'owner' : 'tester',
  })),
  form('/applications/{id}/invitations/{invitation}/revoke', [303], () => ({})),
  page('/applications/{id}/team/{kind}/{member}/remove'),
  form('/applications/{id}/team/{kind}/{member}/remove', [303], () => ({})),
  page('/tests/{id}/leave'),
  form('/tests/{id}/leave', [303], () => ({})),
];
