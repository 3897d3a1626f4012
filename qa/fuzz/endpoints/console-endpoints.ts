import { ENDPOINTS } from '#oauth/endpoints.js';
import { type Actor, LOGO } from '../actor.js';
import { bit, choose, draft, type Endpoint, endpointsOf } from './endpoint.js';

const endpoint = endpointsOf('console');

type Values = Readonly<Record<string, unknown>>;

interface Parts {
  readonly query?: (variant: number) => Readonly<Record<string, string>>;
  readonly body?: (actor: Actor, ids: readonly string[]) => Values;
  readonly image?: Buffer;
  /** True if the operation does not support `If-Match`. */
  readonly isUnversioned?: boolean;
}

function operation(
  [method, path]: readonly [method: string, path: string],
  status: number,
  { query, body, image, isUnversioned = false }: Parts = {},
): Endpoint {
  const whole = `${ENDPOINTS.admin}/${path}`;
  return endpoint(`${method} ${whole}`, [status], async (actor, variant) => {
    const noun = path.endsWith('/logo') ? 'logos' : (path.split('/')[0] ?? '');
    const ids = /:|revoke$/.test(path) ? await actor.target(noun, method !== 'GET') : [];
    const values = [...ids];
    const target = whole.replaceAll(/:\w+/g, () => values.shift() ?? '');
    const bound = bit(variant, 0);
    const accessToken = await actor.adminToken(bound);
    const proof = bound && (await actor.key.proof(method, actor.urls.console + target, { accessToken }));
    const request = draft(actor, 'console', [method, target], {
      ...(query && { query: query(variant) }),
      headers: {
        Authorization: `${bound ? 'DPoP' : 'Bearer'} ${accessToken}`,
        ...(proof !== false && { DPoP: proof }),
        ...(method !== 'GET' && !isUnversioned && { 'If-Match': '*' }),
        ...(method === 'POST' && { 'Idempotency-Key': actor.newSecret('state', 9) }),
        ...(method === 'PATCH' && bit(variant, 1) && { 'Content-Type': 'application/merge-patch+json' }),
        ...(image && { 'Content-Type': 'image/png' }),
      },
      ...(body && { json: body(actor, ids) }),
    });
    if (!image) return request;
    return {
      ...request,
      body: { format: 'json', fields: [], changes: [() => image], chunked: bit(variant, 1) },
    };
  });
}

const page = (variant: number) => ({
  ...(bit(variant, 1) && { limit: choose(variant, 2, ['1', '2', '500']) }),
  ...(bit(variant, 4) && { search: choose(variant, 5, ['fuzz', 'ada', '%']) }),
});
const events = (variant: number) => ({
  types: choose(variant, 1, ['token', 'client.created', 'request.refused']),
  since: choose(variant, 3, ['1h', '2024-02-28', '2026-11-22T18:00Z']),
});
const random = (actor: Actor): string => actor.newSecret('state', 9).toLowerCase();

export const CONSOLE_ENDPOINTS: readonly Endpoint[] = [
  operation(['GET', 'clients'], 200, { query: page }),
  operation(['POST', 'clients'], 201, {
    isUnversioned: true,
    body: () => ({
      name: 'Fuzz',
      redirect_uris: ['https://app.example.com/callback'],
      scopes: ['profile:read', 'bookings:write'],
      optional_scopes: ['bookings:write'],
      contacts: ['fuzz@example.com'],
    }),
  }),
  operation(['GET', 'clients/:id'], 200),
  operation(['PATCH', 'clients/:id'], 200, {
    body: () => ({ name: 'Rooms <b>', client_uri: null, add_scopes: ['openid'], require_state: false }),
  }),
  operation(['POST', 'clients/:id/disable'], 200),
  operation(['POST', 'clients/:id/enable'], 200),
  operation(['DELETE', 'clients/:id'], 204),
  operation(['GET', 'clients/:id/refusals'], 200, { query: () => ({ since: '1h' }) }),
  operation(['GET', 'clients/:id/handover'], 200, {
    query: () => ({ guide: 'https://app.example.com/guide' }),
  }),
  operation(['GET', 'clients/:id/logo'], 200),
  operation(['PUT', 'clients/:id/logo'], 204, { image: LOGO }),
  operation(['DELETE', 'clients/:id/logo'], 204),
  operation(['GET', 'clients/:id/secrets'], 200),
  operation(['GET', 'clients/:id/secrets/:part'], 200),
  operation(['POST', 'clients/:id/secrets'], 201),
  operation(['DELETE', 'clients/:id/secrets/:part'], 204, { query: () => ({ force: 'true' }) }),
  operation(['GET', 'users'], 200, { query: page }),
  operation(['POST', 'users'], 201, {
    isUnversioned: true,
    body: (actor) => {
      const username = random(actor).replaceAll(/[^a-z0-9]/g, 'x');
      const password = actor.newSecret('password');
      return { email: `${username}@example.com`, username, name: 'Grace', locale: 'de', password };
    },
  }),
  operation(['GET', 'users/:id'], 200),
  operation(['PATCH', 'users/:id'], 200, { body: () => ({ locale: 'fr' }) }),
  operation(['POST', 'users/:id/password'], 200, {
    body: (actor) => ({ password: actor.newSecret('password'), end_sessions: true }),
  }),
  operation(['GET', 'users/:id/sessions'], 200),
  operation(['POST', 'users/:id/logout'], 200),
  operation(['POST', 'users/:id/disable'], 200),
  operation(['POST', 'users/:id/enable'], 200, { body: () => ({ override_product: true }) }),
  operation(['DELETE', 'users/:id'], 204),
  operation(['GET', 'grants'], 200, { query: (variant) => ({ ended: String(bit(variant, 1)) }) }),
  operation(['GET', 'grants/:id'], 200),
  operation(['POST', 'grants/revoke'], 200, { body: (_, [, client]) => ({ client }) }),
  operation(['DELETE', 'grants/:id'], 204),
  operation(['GET', 'resource-servers'], 200),
  operation(['POST', 'resource-servers'], 201, { isUnversioned: true, body: () => ({ name: 'Fuzz' }) }),
  operation(['GET', 'resource-servers/:id'], 200),
  operation(['DELETE', 'resource-servers/:id'], 204),
  operation(['PATCH', 'resource-servers/:id'], 200, { body: () => ({ name: 'Rooms <b>' }) }),
  operation(['GET', 'scopes'], 200),
  operation(['GET', 'scopes/:id'], 200),
  operation(['GET', 'operators'], 200),
  operation(['GET', 'operators/:id'], 200),
  operation(['PUT', 'operators/:id'], 200, { isUnversioned: true, body: () => ({ role: 'support' }) }),
  operation(['DELETE', 'operators/:id'], 204, { isUnversioned: true }),
  operation(['GET', 'operator-invitations'], 200),
  operation(['POST', 'operator-invitations'], 201, {
    isUnversioned: true,
    body: (actor) => ({
      email: `${random(actor).replaceAll(/[^a-z0-9]/g, 'x')}@example.com`,
      role: 'viewer',
    }),
  }),
  operation(['GET', 'operator-invitations/:id'], 200),
  operation(['DELETE', 'operator-invitations/:id'], 204, { isUnversioned: true }),
  operation(['GET', 'events'], 200, { query: events }),
  operation(['GET', 'explanations/:id'], 200),
  operation(['GET', 'doctor'], 200, { query: () => ({ skip: 'clients', fail_on: 'warning' }) }),
  operation(['GET', 'keys'], 200),
  operation(['GET', 'openapi.json'], 200),
];
