import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Actor, FuzzClient, GrantKind } from '../actor.js';
import type { Draft } from '../draft.js';
import { bit, choose, draft, type Endpoint, endpointsOf } from './endpoint.js';

export type Parameters = Readonly<Record<string, string>>;

/**
 * Reads the first bits of a variant, which select the client authentication and whether tokens are bound to a key.
 */
function kindOf(variant: number): GrantKind {
  return { isPublic: choose(variant, 0, ['basic', 'body', 'none']) === 'none', bound: bit(variant, 2) };
}

async function post(
  actor: Actor,
  path: string,
  variant: number,
  [parameters, more = {}]: readonly [parameters: Parameters, headers?: Parameters],
): Promise<Draft> {
  const { isPublic, bound } = kindOf(variant);
  const { id, secret = '' } = actor.client(isPublic);
  const inHeader = choose(variant, 0, ['basic', 'body', 'none']) === 'basic' && !('Authorization' in more);
  const url = actor.urls.token + path;
  const headers = {
    ...(inHeader && { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }),
    ...(bound && { DPoP: await actor.key.proof('POST', url) }),
    ...more,
  };
  const body = {
    ...parameters,
    ...(!inHeader && { client_id: id }),
    ...(!inHeader && !isPublic && { client_secret: secret }),
  };
  return draft(actor, 'token', ['POST', path], {
    headers,
    ...(bit(variant, 3) ? { json: body } : { form: body }),
  });
}

export function authorizationRequest(
  actor: Actor,
  { id, secret, redirectUris }: FuzzClient,
  variant: number,
): Parameters {
  return {
    client_id: id,
    redirect_uri: (bit(variant, 4) && redirectUris[1]) || (redirectUris[0] ?? ''),
    // `state` is optional for a public client.
    ...((secret !== undefined || bit(variant, 12)) && { state: actor.newSecret('state') }),
    scope: bit(variant, 13)
      ? 'openid profile:read'
      : choose(variant, 5, ['profile:read', 'profile:read bookings:read', 'bookings:write', '']),
    // Any 32 bytes are a valid challenge.
    code_challenge: actor.newSecret('state'),
    code_challenge_method: 'S256',
    // `response_type` is required with the scope `openid`.
    ...((bit(variant, 7) || bit(variant, 13)) && { response_type: 'code' }),
    ...(bit(variant, 8) && { login_hint: 'ada@example.com', ui_locales: 'de ar', nonce: '1' }),
  };
}

const endpoint = endpointsOf('token');

const preflight = { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'POST' };

/** Another lane may delete the stream between the requests. */
function eventEndpoints(): Endpoint[] {
  const SUBJECT = { format: 'iss_sub', sub: '1' };
  const call = (method: string, path: string, statuses: readonly number[], body?: (actor: Actor) => object) =>
    endpoint(`${method} ${path}`, [...statuses, 404], async (actor) => {
      const { token, streamId } = await actor.eventStream();
      return draft(actor, 'token', [method, path], {
        headers: { Authorization: `Bearer ${token}` },
        ...(body ? { json: { stream_id: streamId, ...body(actor) } } : { query: { stream_id: streamId } }),
      });
    });
  const settings = () => ({ description: 'fuzzed', events_requested: [] });
  const subject = ({ urls }: Actor) => ({ subject: { ...SUBJECT, iss: urls.token } });
  return [
    call('POST', ENDPOINTS.eventStream, [201, 409], settings),
    call('GET', ENDPOINTS.eventStream, [200]),
    call('PATCH', ENDPOINTS.eventStream, [200], settings),
    call('PUT', ENDPOINTS.eventStream, [200], settings),
    call('DELETE', ENDPOINTS.eventStream, [204]),
    call('GET', ENDPOINTS.eventStatus, [200]),
    call('POST', ENDPOINTS.eventStatus, [200], () => ({ status: 'enabled' })),
    call('POST', ENDPOINTS.addEventSubject, [200], subject),
    call('POST', ENDPOINTS.removeEventSubject, [204], subject),
    call('POST', ENDPOINTS.verifyEventStream, [204], () => ({ state: 'fuzzed' })),
    call('POST', ENDPOINTS.eventPoll, [200], () => ({ maxEvents: 1, ack: [] })),
  ];
}

export const TOKEN_ENDPOINTS: readonly Endpoint[] = [
  endpoint(`POST ${ENDPOINTS.token}: a code`, [200], async (actor, variant) => {
    const { code, verifier, redirectUri } = await actor.code(kindOf(variant));
    actor.retire(code);
    const grant = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    };
    return post(actor, ENDPOINTS.token, variant, [grant]);
  }),
  endpoint(`POST ${ENDPOINTS.token}: a refresh token`, [200], async (actor, variant) => {
    const { access, refresh } = await actor.pair(kindOf(variant), 'take');
    actor.retire(access, refresh);
    const scope = bit(variant, 4) ? { scope: 'profile:read' } : {};
    return post(actor, ENDPOINTS.token, variant, [
      { grant_type: 'refresh_token', refresh_token: refresh, ...scope },
    ]);
  }),
  endpoint(`POST ${ENDPOINTS.token}: a device code`, [200, 400], async (actor, variant) => {
    const { isPublic } = kindOf(variant);
    const { deviceCode } = await actor.device(isPublic, bit(variant, 4));
    actor.retire(deviceCode);
    return post(actor, ENDPOINTS.token, variant, [{ grant_type: DEVICE_CODE, device_code: deviceCode }]);
  }),
  endpoint(`POST ${ENDPOINTS.token}: client credentials`, [200], async (actor, variant) => {
    const scope = choose(variant, 4, ['admin:read', 'admin:read admin:write', 'admin:operators', '']);
    const body = { grant_type: 'client_credentials', scope, ...(await actor.assertion()) };
    return draft(
      actor,
      'token',
      ['POST', ENDPOINTS.token],
      bit(variant, 3) ? { json: body } : { form: body },
    );
  }),
  endpoint(`POST ${ENDPOINTS.refreshToken}`, [200], async (actor, variant) => {
    const { access, refresh } = await actor.pair(kindOf(variant), 'take');
    actor.retire(access, refresh);
    const parameters = { grant_type: 'refresh_token' };
    return bit(variant, 4)
      ? post(actor, ENDPOINTS.refreshToken, variant, [{ ...parameters, refresh_token: refresh }])
      : post(actor, ENDPOINTS.refreshToken, variant, [parameters, { Authorization: `Bearer ${refresh}` }]);
  }),
  endpoint(`POST ${ENDPOINTS.revoke}`, [200], async (actor, variant) => {
    const { access, refresh } = await actor.pair(kindOf(variant), 'take');
    actor.retire(access, refresh);
    const hint = bit(variant, 5) ? { token_type_hint: 'refresh_token' } : {};
    return post(actor, ENDPOINTS.revoke, variant, [{ token: bit(variant, 4) ? access : refresh, ...hint }]);
  }),
  endpoint(`POST ${ENDPOINTS.introspect}`, [200], async (actor, variant) => {
    const { access } = await actor.pair(kindOf(variant), 'share');
    const { id, secret } = actor.resourceServer;
    const Authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    const parts = bit(variant, 3) ? { json: { token: access } } : { form: { token: access } };
    return draft(actor, 'token', ['POST', ENDPOINTS.introspect], { headers: { Authorization }, ...parts });
  }),
  endpoint(`POST ${ENDPOINTS.par}`, [201], async (actor, variant) => {
    const { client_id: _sentAnyway, ...parameters } = authorizationRequest(
      actor,
      actor.client(kindOf(variant).isPublic),
      variant,
    );
    return post(actor, ENDPOINTS.par, variant, [parameters]);
  }),
  endpoint(`POST ${ENDPOINTS.deviceAuthorization}`, [200], async (actor, variant) => {
    const scope = choose(variant, 5, [
      'profile:read',
      'profile:read bookings:read',
      'openid profile:read',
      '',
    ]);
    return post(actor, ENDPOINTS.deviceAuthorization, variant, [{ scope }]);
  }),
  ...eventEndpoints(),
  ...[
    ENDPOINTS.authorizationServerMetadata,
    ENDPOINTS.ssfConfiguration,
    ENDPOINTS.openIdConfiguration,
    ENDPOINTS.jwks,
    ENDPOINTS.openApi,
  ].map((path) => endpoint(`GET ${path}`, [200], async (actor) => draft(actor, 'token', ['GET', path]))),
  endpoint(`GET ${ENDPOINTS.errors}`, [302], async (actor) =>
    draft(actor, 'token', ['GET', ENDPOINTS.errors]),
  ),
  endpoint(`OPTIONS ${ENDPOINTS.token}`, [204], async (actor) =>
    draft(actor, 'token', ['OPTIONS', ENDPOINTS.token], { headers: preflight }),
  ),
];
