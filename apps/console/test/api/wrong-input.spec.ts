import type { Response } from 'supertest';
import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { type AdminApi, startAdminApi } from '../support/start-console-app.js';

let api: AdminApi;
/** Values of the placeholders in paths. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  api = await startAdminApi();
  const { fixture, console } = api;
  const { client_id: client } = await fixture.client();
  const { clientId: open } = await fixture.clients.create({
    name: 'Open',
    type: 'public',
    scopes: ['profile:read'],
    redirectUris: ['https://open.example.com/callback'],
  });
  const [{ id: secret } = { id: '' }] = await console.sql<{ id: string }>(
    'SELECT id FROM client_secrets WHERE client_id = $1',
    [client],
  );
  const server = await api.call('post', '/resource-servers', { body: { name: 'Bookings API' } });
  ids = {
    CLIENT: client,
    OPEN: open,
    USER: String(await fixture.user()),
    SECRET: secret,
    SERVER: server.body.id,
    KEYS: api.clientId,
  };
});

beforeEach(async () => {
  await api.console.resetRateLimits();
});

afterAll(() => api.close());

interface Problem {
  readonly id: string;
  readonly detail: string;
  readonly pointer?: string;
  readonly parameter?: string;
}

type Headers = Readonly<Record<string, string>>;
/** Errors as `id location`, separated by commas; empty if the problem has no errors. */
type Case = readonly [
  what: string,
  send: () => Promise<Response>,
  status: number,
  id: string,
  errors?: string,
];

const ANY: Headers = { 'If-Match': '*' };
const URI = 'https://rooms.example.com/callback';
const ROOMS = { name: 'Rooms', redirect_uris: [URI] };

async function send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Response> {
  const target = path.replaceAll(/[A-Z]{3,}/g, (name) => ids[name] ?? name);
  return api.call(method, target, { headers, ...(body !== undefined && { body: body as object }) });
}

/** Sends a text that no serializer of JSON writes. */
const raw = (text: string, type = 'application/json', headers: Headers = {}) =>
  send('post', '/clients', text, { 'Content-Type': type, ...headers });

const bodies: readonly Case[] = [
  ['that is not JSON', () => raw('{"name"'), 400, 'body_malformed'],
  ['that is a list', () => raw('[]'), 400, 'body_not_object'],
  ['that is text', () => raw('"Rooms"'), 400, 'body_not_object'],
  ['that is a number', () => raw('5'), 400, 'body_not_object'],
  ['that is null', () => raw('null'), 400, 'body_not_object'],
  [
    'with too many levels',
    () => raw(`{"name":${'['.repeat(9_000)}${']'.repeat(9_000)}}`),
    400,
    'body_too_deep',
  ],
  ['that is too large', () => raw(`{"name":"${'x'.repeat(70_000)}"}`), 413, 'payload_too_large'],
  [
    'with a repeated member',
    () => raw('{"name":"A","na\\u006de":"B"}'),
    400,
    'invalid_input',
    'member_repeated #/name',
  ],
  [
    'with a repeated inner member',
    () => raw('{"jwks":{"keys":[],"keys":[]}}'),
    400,
    'invalid_input',
    'member_repeated',
  ],
  ['of plain text', () => raw('{}', 'text/plain'), 415, 'unsupported_media_type'],
  ['of a form', () => raw('name=Rooms', 'application/x-www-form-urlencoded'), 415, 'media_type_unsupported'],
  [
    'of a merge patch in a POST',
    () => raw('{}', 'application/merge-patch+json'),
    415,
    'media_type_unsupported',
  ],
  [
    'with a content coding',
    () => raw('{}', 'application/json', { 'Content-Encoding': 'gzip' }),
    415,
    'content_encoding_unsupported',
  ],
  [
    'for a response of HTML',
    () => raw('{}', 'application/json', { Accept: 'text/html' }),
    406,
    'not_acceptable',
  ],
  [
    'for a response without JSON',
    () => raw('{}', 'application/json', { Accept: 'application/json;q=0' }),
    406,
    'not_acceptable',
  ],
  [
    'with a malformed key',
    () => raw('{}', 'application/json', { 'Idempotency-Key': 'a b' }),
    400,
    'idempotency_key_malformed',
  ],
  ['with a condition', () => raw('{}', 'application/json', ANY), 400, 'condition_unsupported'],
];

const created = (members: object, errors: string, base: object = ROOMS): Case => [
  JSON.stringify(members).slice(0, 60),
  () => send('post', '/clients', { ...base, ...members }),
  400,
  'invalid_input',
  errors,
];

const registrations: readonly Case[] = [
  created({ colour: 'red' }, 'unknown_field #/colour'),
  created({ redirectUris: [] }, 'unknown_field #/redirectUris'),
  created({ 'a/b~c': 1 }, 'unknown_field #/a~1b~0c'),
  created({ '': 1, é: 1 }, 'unknown_field #/, unknown_field #/%C3%A9'),
  created({ constructor: {} }, 'unknown_field #/constructor'),
  created({ name: 5 }, 'type #/name'),
  created({ name: null }, 'type #/name'),
  created({ name: '\0' }, 'type #/name'),
  created({ name: '' }, 'name_invalid #/name'),
  created({ name: 'x'.repeat(101) }, 'name_invalid #/name'),
  created({}, 'name_invalid #/name, redirect_uri_missing #/redirect_uris', {}),
  created({ redirect_uris: URI }, 'type #/redirect_uris'),
  created({ redirect_uris: [5] }, 'type #/redirect_uris'),
  created({ redirect_uris: [] }, 'redirect_uri_missing #/redirect_uris'),
  created({ redirect_uris: ['http://rooms.example.com'] }, 'redirect_uri_invalid #/redirect_uris'),
  created({ redirect_uris: [`${URI}#x`] }, 'redirect_uri_invalid #/redirect_uris'),
  created({ redirect_uris: ['javascript:alert(1)'] }, 'redirect_uri_invalid #/redirect_uris'),
  created({ scopes: {} }, 'type #/scopes'),
  created({ scopes: [] }, 'scope_missing #/scopes'),
  created({ scopes: ['nothing'] }, 'scope_unknown #/scopes'),
  created({ optional_scopes: ['nothing'] }, 'optional_scope_invalid #/optional_scopes'),
  created({ type: 'secret' }, 'word_unknown #/type'),
  created({ type: true }, 'type #/type'),
  created({ type: 'public', jwks_uri: 'https://rooms.example.com/jwks' }, 'public_client_with_keys #/type'),
  created({ grant_type: 'implicit' }, 'word_unknown #/grant_type'),
  created({ device_grant: 'yes' }, 'type #/device_grant'),
  created({ require_par: 1 }, 'type #/require_par'),
  created({ id_token_alg: 'none' }, 'word_unknown #/id_token_alg'),
  created({ subject: 'secret' }, 'word_unknown #/subject'),
  created({ profile: 'fapi1' }, 'word_unknown #/profile'),
  created({ profile: 'fapi2' }, 'profile_invalid #/profile'),
  created({ backchannel_logout_uri: 'x' }, 'backchannel_logout_uri_invalid #/backchannel_logout_uri'),
  created(
    { post_logout_redirect_uris: ['x'] },
    'post_logout_redirect_uri_invalid #/post_logout_redirect_uris',
  ),
  created({ policy_uri: 'x' }, 'link_invalid #/policy_uri'),
  created({ contacts: ['x'] }, 'contact_invalid #/contacts'),
  created({ jwks: 5 }, 'type #/jwks'),
  created({ jwks: { keys: [] } }, 'keys_invalid #/jwks'),
  created({ jwks_uri: 'http://rooms.example.com' }, 'jwks_uri_invalid #/jwks_uri'),
  created({ dpop_bound_access_tokens: 'x' }, 'type #/dpop_bound_access_tokens'),
  created({ refresh_token_rotation: false }, 'rotation_invalid #/refresh_token_rotation'),
  created({ metadata_url: 'x' }, 'document_url_invalid #/metadata_url', {}),
];

const change = (
  path: string,
  body: object | undefined,
  errors: string,
  [status, id]: readonly [number, string] = [400, 'invalid_input'],
): Case => [
  `${path} ${JSON.stringify(body ?? {})}`,
  () => send('patch', path, body, ANY),
  status,
  id,
  errors,
];
const client = (body: object, errors: string): Case => change('/clients/CLIENT', body, errors);

const changes: readonly Case[] = [
  client({}, 'nothing_to_change'),
  client({ confirm_new_subjects: true, confirm_console: true }, 'nothing_to_change'),
  client({ grant_type: 'client_credentials' }, 'unknown_field #/grant_type'),
  client({ expected_version: 1 }, 'unknown_field #/expected_version'),
  client({ scopes: ['profile:read'], add_scopes: ['openid'] }, 'fields_exclude_each_other #/scopes'),
  client({ remove_scopes: ['openid'] }, 'not_registered #/remove_scopes'),
  client({ add_redirect_uris: ['x'] }, 'redirect_uri_invalid #/add_redirect_uris'),
  client({ remove_redirect_uris: ['x'] }, 'not_registered #/remove_redirect_uris'),
  client({ redirect_uris: [] }, 'redirect_uri_missing #/redirect_uris'),
  client({ jwks_uri: 'https://rooms.example.com/jwks' }, 'client_has_secrets #/jwks_uri'),
  client({ add_keys: { kty: 'EC', d: 'x' } }, 'keys_invalid #/add_keys'),
  client({ add_keys: null }, 'type #/add_keys'),
  client({ remove_keys: ['x'] }, 'not_registered #/remove_keys'),
  client({ refresh_token_rotation: false }, 'rotation_invalid #/refresh_token_rotation'),
  client({ locale: 'de' }, 'unknown_field #/locale'),
  change(
    '/clients/OPEN',
    { jwks_uri: 'https://rooms.example.com/jwks' },
    'public_client_with_keys #/jwks_uri',
  ),
  change('/clients/KEYS', { jwks: null }, 'grant_type_invalid #/jwks'),
  change('/clients/KEYS', { add_redirect_uris: [URI] }, 'grant_type_invalid #/add_redirect_uris'),
  change('/clients/unknown', { name: 'Rooms' }, 'client_unknown', [404, 'client_unknown']),
  change('/users/USER', {}, 'locale_unknown #/locale'),
  change('/users/USER', { locale: 5 }, 'type #/locale'),
  change('/users/USER', { locale: 'xx' }, 'locale_unknown #/locale'),
  change('/users/USER', { email: 'ada@example.com' }, 'unknown_field #/email'),
  change('/resource-servers/SERVER', {}, 'nothing_to_change'),
  change('/resource-servers/SERVER', { name: '' }, 'name_invalid #/name'),
  change('/resource-servers/SERVER', { jwks_uri: null }, 'keys_missing #/jwks_uri'),
  change('/resource-servers/SERVER', { secret: 'x' }, 'unknown_field #/secret'),
  change('/users/ada', { locale: 'de' }, 'user_unknown', [404, 'user_unknown']),
];

const act = (
  path: string,
  body: object | undefined,
  errors: string,
  rest: readonly [number, string] = [400, 'invalid_input'],
): Case => [
  `${path} ${JSON.stringify(body ?? {})}`,
  () => send('post', path, body, /users$|servers$|invitations$|revoke$/.test(path) ? {} : ANY),
  ...rest,
  errors,
];

const actions: readonly Case[] = [
  act('/clients/CLIENT/disable', { force: true }, 'unknown_field #/force'),
  act('/clients/OPEN/secrets', undefined, 'public_client', [409, 'public_client']),
  act('/clients/KEYS/secrets', undefined, 'key_client', [409, 'key_client']),
  act('/users', {}, 'email_invalid #/email, username_invalid #/username, name_invalid #/name'),
  act('/users', { email: 5, username: [], name: {} }, 'type #/email, type #/username, type #/name'),
  act('/users/USER/password', { password: 'short' }, 'password_invalid #/password'),
  act('/users/USER/password', { end_sessions: 'no' }, 'type #/end_sessions'),
  act('/users/USER/enable', { override_product: 'yes' }, 'type #/override_product'),
  act('/users/USER/disable', { reason: 'spam' }, 'unknown_field #/reason'),
  act('/users/99999999999/disable', undefined, 'user_unknown', [404, 'user_unknown']),
  act('/operator-invitations', { role: 'owner' }, 'email_invalid #/email, role_unknown #/role'),
  act('/grants/revoke', {}, 'grants_not_selected'),
  act('/grants/revoke', { all: true, client: 'x' }, 'grants_not_selected'),
  act('/grants/revoke', { all: 'yes' }, 'type #/all'),
  act('/grants/revoke', { id: 'x' }, 'unknown_field #/id'),
  act('/grants/revoke', { user: 'nobody' }, 'user_unknown', [404, 'user_unknown']),
  act('/resource-servers', {}, 'name_invalid #/name'),
  act('/resource-servers', { name: 'API', jwks: 5 }, 'type #/jwks'),
  act('/resource-servers', { name: 'API', jwks_uri: 'x' }, 'jwks_uri_invalid #/jwks_uri'),
];

const read = (
  path: string,
  errors: string,
  rest: readonly [number, string] = [400, 'invalid_input'],
): Case => [path, () => send('get', path), ...rest, errors];

const reads: readonly Case[] = [
  read('/clients?colour=red', 'unknown_parameter colour'),
  read('/clients?limit=0', 'number_invalid limit'),
  read('/clients?limit=1001', 'number_invalid limit'),
  read('/clients?limit=1.5', 'number_invalid limit'),
  read('/clients?limit=', 'number_invalid limit'),
  read('/clients?limit=many', 'number_invalid limit'),
  read('/clients?limit=1&limit=2', 'parameter_repeated limit'),
  read('/clients/CLIENT?version=1', 'unknown_parameter version'),
  read('/clients/unknown', 'client_unknown', [404, 'client_unknown']),
  read('/clients/CLIENT/refusals?since=yesterday', 'time_invalid since'),
  read('/clients?cursor=zzz', 'cursor_invalid cursor'),
  read('/clients?cursor=a1', 'cursor_invalid cursor'),
  read('/users?cursor=zzz', 'cursor_invalid cursor'),
  read('/users?cursor=a1.2147483648', 'cursor_invalid cursor'),
  read('/users?limit=-1&cursor=x', 'number_invalid limit, cursor_invalid cursor'),
  read('/users/ada', 'user_unknown', [404, 'user_unknown']),
  read('/users/USER/sessions?cursor=zzz', 'unknown_parameter cursor'),
  read('/grants?cursor=zzz', 'cursor_invalid cursor'),
  read('/grants?ended=maybe', 'type ended'),
  read('/grants?user=nobody', 'user_unknown', [404, 'user_unknown']),
  read('/grants/unknown', 'grant_unknown', [404, 'grant_unknown']),
  read('/resource-servers?cursor=zzz', 'unknown_parameter cursor'),
  read('/resource-servers/unknown', 'resource_server_unknown', [404, 'resource_server_unknown']),
  read('/events?cursor=zzz', 'cursor_invalid cursor'),
  read('/events?types=nothing&types=token', 'type_unknown types'),
  read('/events?since=yesterday', 'time_invalid since'),
  read('/events?limit=501', 'number_invalid limit'),
  read('/explanations/AAAAAAAAAAAA', 'reference_unknown', [404, 'reference_unknown']),
  read('/operators/USER', 'console_operator_unknown', [404, 'console_operator_unknown']),
  read('/operators?limit=5', 'unknown_parameter limit'),
  read('/operator-invitations/unknown', 'invitation_unknown', [404, 'invitation_unknown']),
  read('/scopes/nothing', 'scope_unknown', [404, 'scope_unknown']),
  read('/scopes?cursor=zzz', 'unknown_parameter cursor'),
  read('/clients/CLIENT/secrets/unknown', 'secret_unknown', [404, 'secret_unknown']),
  read('/clients/CLIENT/handover?guide=x', 'guide_invalid guide'),
  read('/doctor?skip=everything', 'part_unknown skip'),
];

const deletion = (
  path: string,
  rest: readonly [number, string],
  errors: string,
  headers: Headers = ANY,
): Case => [
  `${path} ${JSON.stringify(headers)}`,
  () => send('delete', path, undefined, headers),
  ...rest,
  errors,
];

const deletions: readonly Case[] = [
  deletion('/clients/CLIENT', [428, 'if_match_missing'], '', {}),
  deletion('/clients/CLIENT', [400, 'if_match_malformed'], '', { 'If-Match': '1' }),
  deletion('/clients/CLIENT', [412, 'version_outdated'], 'version_outdated', { 'If-Match': '"1"' }),
  deletion('/clients/CLIENT', [400, 'condition_unsupported'], '', { 'If-None-Match': '*' }),
  deletion('/clients/CLIENT?force=true', [400, 'invalid_input'], 'unknown_parameter force'),
  deletion('/clients/CLIENT/secrets/SECRET?force=maybe', [400, 'invalid_input'], 'type force'),
  deletion('/clients/CLIENT/secrets/SECRET', [409, 'last_live_secret'], 'last_live_secret'),
  deletion('/clients/CLIENT/secrets/unknown', [404, 'secret_unknown'], 'secret_unknown'),
  deletion('/grants/unknown', [400, 'invalid_input'], 'grant_id_invalid id'),
];

const logo = (
  what: string,
  headers: Headers,
  body: Buffer,
  [status, id]: readonly [number, string],
  errors = '',
): Case => [
  what,
  () => send('put', '/clients/CLIENT/logo', body, { 'Content-Type': 'image/png', ...headers }),
  status,
  id,
  errors,
];
const NEW: Headers = { 'If-None-Match': '*' };

const logos: readonly Case[] = [
  logo('without a condition', {}, Buffer.from('x'), [428, 'if_match_missing']),
  logo(
    'with a tag of a logo that does not exist',
    ANY,
    Buffer.from('x'),
    [412, 'version_outdated'],
    'version_outdated',
  ),
  logo('with a tag in If-None-Match', { 'If-None-Match': '"1"' }, Buffer.from('x'), [
    400,
    'condition_unsupported',
  ]),
  logo('with another condition for an absent logo', { ...NEW, ...ANY }, Buffer.from('x'), [
    400,
    'condition_unsupported',
  ]),
  logo('that is no image', NEW, Buffer.from('x'), [400, 'invalid_input'], 'logo_invalid'),
  logo('that is empty', NEW, Buffer.alloc(0), [400, 'invalid_input'], 'logo_invalid'),
  logo('that is too large', NEW, Buffer.alloc(MAX_LOGO_BYTES + 1), [413, 'payload_too_large']),
  logo('of another media type', { ...NEW, 'Content-Type': 'image/svg+xml' }, Buffer.from('<svg/>'), [
    415,
    'unsupported_media_type',
  ]),
  logo('of JSON', { ...NEW, 'Content-Type': 'application/json' }, Buffer.from('{}'), [
    415,
    'media_type_unsupported',
  ]),
  ['that does not exist', () => send('get', '/clients/CLIENT/logo'), 404, 'logo_missing', 'logo_missing'],
  [
    'to remove that does not exist',
    () => send('delete', '/clients/CLIENT/logo', undefined, ANY),
    404,
    'logo_missing',
    'logo_missing',
  ],
  [
    'as JSON',
    () => send('get', '/clients/CLIENT/logo', undefined, { Accept: 'application/json' }),
    406,
    'not_acceptable',
  ],
];

const plain = (
  method: string,
  path: string,
  status: number,
  id: string,
  options: Headers | null = {},
): Case => [
  `${method} ${path} ${JSON.stringify(options)}`,
  () => api.call(method, path, options === null ? { token: null } : { headers: options }),
  status,
  id,
];

const requests: readonly Case[] = [
  plain('get', '/nothing', 404, 'not_found'),
  plain('get', '/clients/a/b/c', 404, 'not_found'),
  plain('get', '/doctor%', 404, 'not_found'),
  plain('get', '/clients/%00', 400, 'address_malformed'),
  plain('put', '/clients', 405, 'method_not_allowed'),
  plain('delete', '/clients', 405, 'method_not_allowed'),
  plain('post', '/doctor', 405, 'method_not_allowed'),
  plain('get', '/clients/x/disable', 405, 'method_not_allowed'),
  plain('put', '/users/1', 405, 'method_not_allowed'),
  plain('get', '/clients', 401, 'access_token_missing', null),
  plain('get', '/clients', 401, 'access_token_inactive', { Authorization: `Bearer sat_${'x'.repeat(86)}` }),
  plain('get', '/clients', 400, 'authorization_header_malformed', { Authorization: 'Bearer' }),
];

describe.each<[string, readonly Case[]]>([
  ['a body', bodies],
  ['a registration', registrations],
  ['a change', changes],
  ['an action', actions],
  ['a read', reads],
  ['a deletion', deletions],
  ['a logo', logos],
  ['a request', requests],
])('%s with wrong input', (_, cases) => {
  const rows = cases.map(([what, run, status, id, errors = '']) => ({ what, run, status, id, errors }));

  it.each(rows)('gets a problem that a program can act on: $what', async ({ run, status, id, errors }) => {
    const { headers, body } = await run();
    expect([body.status, body.id, locations(body.errors)]).toEqual([status, id, errors]);
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(body.title).toMatch(/^[A-Z]/);
    expect(body.error_reference).toMatch(/^[\w-]{12}$/);
    for (const { id: error, detail } of [body, ...((body.errors ?? []) as Problem[])]) {
      expect(error).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      expect(detail).toMatch(/\w{2}/);
      expect(detail).not.toMatch(/[‹›]|\bthe user to\b/);
    }
    if (status === 405) expect(headers['allow']).toBeTruthy();
  });
});

function locations(errors: readonly Problem[] = []): string {
  return errors
    .map(({ id, pointer, parameter }) => [id, pointer ?? parameter].filter(Boolean).join(' '))
    .join(', ');
}

it('wrong input changes no application', async () => {
  const [{ count } = { count: 0 }] = await api.console.sql<{ count: number }>(
    "SELECT count(*)::integer AS count FROM clients WHERE name = 'Rooms' OR version > 1",
  );
  expect(count).toBe(0);
});
