import { readFileSync } from 'node:fs';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { type Actor, LOGO } from '../actor.js';
import { bit, choose, draft, type Endpoint, endpointsOf } from './endpoint.js';

type Values = Readonly<Record<string, unknown>>;

interface Operation {
  readonly parameters?: readonly { readonly name?: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly content: Values };
  readonly responses: Values;
}

const { paths } = JSON.parse(readFileSync('apps/console/src/openapi/openapi.json', 'utf8')) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const random = (actor: Actor): string =>
  actor
    .newSecret('state', 9)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, 'x');
const page = (variant: number) => ({
  ...(bit(variant, 1) && { limit: choose(variant, 2, ['1', '2', '500']) }),
  ...(bit(variant, 4) && { search: choose(variant, 5, ['fuzz', 'ada', '%']) }),
});

/** Valid bodies by path below the API's; an operation without an entry gets `{}`. */
const BODIES: Readonly<Record<string, (actor: Actor, ids: readonly string[]) => Values>> = {
  'post clients': () => ({
    name: 'Fuzz',
    redirect_uris: ['https://app.example.com/callback'],
    scopes: ['profile:read', 'bookings:write'],
    optional_scopes: ['bookings:write'],
    contacts: ['fuzz@example.com'],
  }),
  'patch clients/{id}': () => ({
    name: 'Rooms <b>',
    client_uri: null,
    add_scopes: ['openid'],
    require_state: false,
  }),
  'post users': (actor) => {
    const username = random(actor);
    const password = actor.newSecret('password');
    return { email: `${username}@example.com`, username, name: 'Grace', locale: 'de', password };
  },
  'patch users/{id}': () => ({ locale: 'fr' }),
  'post users/{id}/password': (actor) => ({ password: actor.newSecret('password'), end_sessions: true }),
  'post users/{id}/enable': () => ({ override_product: true }),
  'post grants/revoke': (_actor, [, client]) => ({ client }),
  'post resource-servers': () => ({ name: 'Fuzz' }),
  'patch resource-servers/{id}': () => ({ name: 'Rooms <b>' }),
  'put operators/{id}': () => ({ role: 'support' }),
  'put clients/{id}/event-stream': () => ({ events_url: 'https://receiver.example.com/events' }),
  'post requests/{id}/ask': () => ({ text: 'Why <b>?' }),
  'post requests/{id}/reject': () => ({ text: 'No' }),
  'post operator-invitations': (actor) => ({ email: `${random(actor)}@example.com`, role: 'viewer' }),
};

const QUERIES: Readonly<Record<string, (variant: number) => Readonly<Record<string, string>>>> = {
  'get clients': page,
  'get users': page,
  'get clients/{id}/refusals': () => ({ since: '1h' }),
  'get clients/{id}/handover': () => ({ guide: 'https://app.example.com/guide' }),
  'delete clients/{id}/secrets/{part}': () => ({ force: 'true' }),
  'get grants': (variant) => ({ ended: String(bit(variant, 1)) }),
  'get events': (variant) => ({
    types: choose(variant, 1, ['token', 'client.created', 'request.refused']),
    since: choose(variant, 3, ['1h', '2024-02-28', '2026-11-22T18:00Z']),
  }),
  'get doctor': () => ({ skip: 'clients', fail_on: 'warning' }),
};

/** Builds requests for an operation of the API from its OpenAPI description. */
function endpointOf(whole: string, method: string, operation: Operation): Endpoint {
  const { parameters = [], requestBody, responses } = operation;
  const path = whole.replace(`${ENDPOINTS.admin}/`, '');
  const verb = method.toUpperCase();
  const statuses = Object.keys(responses).map(Number);
  const takes = (name: string) =>
    parameters.some((parameter) => (parameter.name ?? parameter.$ref?.split('/').at(-1)) === name);
  const types = Object.keys(requestBody?.content ?? {});
  const key = `${method} ${path}`;
  return endpointsOf('console')(
    `${verb} ${whole}`,
    statuses.filter((status) => status < 300),
    async (actor, variant) => {
      const [first = '', , part] = path.split('/');
      const noun = part === 'logo' || part === 'event-stream' ? `${part}s` : first;
      const ids = /[{]|revoke$/.test(path) ? await actor.target(noun, method !== 'get') : [];
      const values = [...ids];
      const target = whole.replaceAll(/\{\w+\}/g, () => values.shift() ?? '');
      const bound = bit(variant, 0);
      const accessToken = await actor.adminToken(bound);
      const proof = bound && (await actor.key.proof(verb, actor.urls.console + target, { accessToken }));
      const type = types[bit(variant, 1) ? types.length - 1 : 0];
      const isImage = type?.startsWith('image/') ?? false;
      const request = draft(actor, 'console', [verb, target], {
        query: QUERIES[key]?.(variant) ?? {},
        headers: {
          Authorization: `${bound ? 'DPoP' : 'Bearer'} ${accessToken}`,
          ...(proof !== false && { DPoP: proof }),
          ...(method !== 'get' && takes('If-Match') && { 'If-Match': '*' }),
          ...(takes('Idempotency-Key') && { 'Idempotency-Key': actor.newSecret('state', 9) }),
          ...(type !== undefined && { 'Content-Type': isImage ? 'image/png' : type }),
        },
        ...(type !== undefined && !isImage && { json: BODIES[key]?.(actor, ids) ?? {} }),
      });
      if (!isImage) return request;
      return {
        ...request,
        body: { format: 'json', fields: [], changes: [() => LOGO], chunked: bit(variant, 1) },
      };
    },
  );
}

export const CONSOLE_ENDPOINTS: readonly Endpoint[] = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => endpointOf(path, method, operation)),
);
