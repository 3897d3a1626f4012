import {
  type ContentDescription,
  fixedHeader,
  type OperationDescription,
  type ResponseDescription,
} from '#openapi/operation.js';
import type { SchemaSource } from '#openapi/schema.js';
import { type JsonSchema, Schemas, shareRepeated } from './schemas.js';
import type { Route } from './routes.js';

export interface Outline {
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly securitySchemes: Readonly<Record<string, object>>;
}

/** Routes of an app. `servers` replaces the document's servers for these routes. */
export interface Endpoints {
  readonly routes: readonly Route[];
  readonly servers?: readonly object[];
}

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

interface OpenApiOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
}

interface OpenApiResponse {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: JsonSchema }>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

const BODY_TYPES = ['application/x-www-form-urlencoded', 'application/json'];

/** @throws TypeError for a route without `@ApiOperation`, or with two different descriptions */
export function documentOf({ info, servers, tags, securitySchemes }: Outline, apps: readonly Endpoints[]) {
  const shared = { schemas: new Schemas(), responses: new Map<string, object>() };
  const paths: Record<string, Record<string, unknown>> = {};
  const described = new Map<string, OperationDescription>();
  for (const { routes, servers: own } of apps)
    for (const route of routes) {
      if (!route.operation) throw new TypeError(`${route.handler} has no @ApiOperation`);
      const item = (paths[route.path] ??= own ? { servers: own } : {});
      // Controllers of alternative login methods share paths and their description.
      const before = described.get(`${route.method} ${route.path}`);
      if (before && before !== route.operation)
        throw new TypeError(`${route.handler}: described in two ways`);
      described.set(`${route.method} ${route.path}`, route.operation);
      item[route.method] = operation(route, route.operation, shared);
    }
  const { node, components } = shareRepeated({ paths, responses: Object.fromEntries(shared.responses) });
  const used = new Set(apps.flatMap(({ routes }) => routes.map((route) => route.operation?.tag)));
  return {
    openapi: '3.1.1',
    info,
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers,
    tags: tags.filter(({ name }) => used.has(name as never)),
    // Sorts the paths, so that their order does not depend on the controllers' folders.
    paths: Object.fromEntries(Object.entries(node.paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: shared.schemas.components,
      ...components,
      responses: node.responses,
      securitySchemes,
    },
  } as unknown as OpenApiDocument;
}

interface Shared {
  readonly schemas: Schemas;
  readonly responses: Map<string, object>;
}

function operation(route: Route, described: OperationDescription, shared: Shared): object {
  const { schemas } = shared;
  const { id, tag, summary, description, security = [], responses } = described;
  const parameters = Object.entries(described.parameters ?? {});
  const body = requestBody(route, described, schemas);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security,
    ...(parameters.length > 0 && {
      parameters: parameters.map(([name, { schema, ...parameter }]) => ({
        name,
        ...parameter,
        schema: schemas.resolve(schema ?? { type: 'string' }),
      })),
    }),
    ...(body && { requestBody: body }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, answer]) => [
        status,
        response(Number(status) < 300 ? withFixedHeaders(answer, route) : answer, shared),
      ]),
    ),
  };
}

function requestBody(
  { dto }: Route,
  { form, body }: OperationDescription,
  schemas: Schemas,
): object | undefined {
  if (!dto) {
    if (body) {
      const content = body.types.map((type) => [type, { schema: schemas.resolve(body.schema) }]);
      return { content: Object.fromEntries(content) as object };
    }
    if (!form) return undefined;
    const content = { [BODY_TYPES[0] ?? '']: { schema: schemas.resolve(form) } };
    // If no field is required, a request may omit the whole form.
    return { required: 'required' in form, content };
  }
  const schema: SchemaSource = form ? { allOf: [dto, form] } : dto;
  const content = BODY_TYPES.map((type) => [type, { schema: schemas.resolve(schema) }]);
  return { required: true, content: Object.fromEntries(content) as object };
}

/** Adds the headers that Nest's `@Header` sets, except Content-Type and Content-Security-Policy. */
function withFixedHeaders(answer: ResponseDescription, { headers }: Route): ResponseDescription {
  const fixed = headers.filter(({ name }) => !/^content-(type|security-policy)$/i.test(name));
  if (fixed.length === 0) return answer;
  const described = fixed.map(({ name, value }) => [name, fixedHeader(value)] as const);
  return { ...answer, headers: { ...answer.headers, ...Object.fromEntries(described) } };
}

function response(
  { name, description, headers = {}, content = {} }: ResponseDescription,
  { schemas, responses }: Shared,
): object {
  const withHeaders = Object.entries(headers).map(([name, { schema, ...header }]) => [
    name,
    { ...header, schema: schemas.resolve(schema ?? { type: 'string' }) },
  ]);
  const withContent = Object.entries(content).map(([type, body]) => [type, media(body, schemas)]);
  const written = {
    description,
    ...(withHeaders.length > 0 && { headers: Object.fromEntries(withHeaders) as object }),
    ...(withContent.length > 0 && { content: Object.fromEntries(withContent) as object }),
  };
  if (name === undefined) return written;
  responses.set(name, written);
  return { $ref: `#/components/responses/${name}` };
}

function media({ schema, examples }: ContentDescription, schemas: Schemas): object {
  const named = Object.entries(examples ?? {}).map(([name, value]) => [name, { value }]);
  return {
    schema: schemas.resolve(schema),
    ...(named.length > 0 && { examples: Object.fromEntries(named) as object }),
  };
}
