import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { continuationOf } from '#local/demo/html-form.js';
import type { Service } from '#platform/bootstrap/service.js';

type Json = Readonly<Record<string, unknown>>;

interface Reference {
  readonly $ref?: string;
}

interface Header extends Reference {
  readonly required?: boolean;
  readonly schema: Json;
}

interface Response extends Reference {
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Components {
  readonly headers?: object;
  readonly responses: object;
  readonly schemas: object;
}

export interface Exchange {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Parsed body; undefined for an empty response. */
  readonly request: unknown;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Headers that need no description: general headers (docs/security.md), connection headers and CORS headers. */
const COMMON =
  /^(access-control-|allow$|cache-control$|connection$|content-(length|security-policy|type)$|cross-origin-|date$|keep-alive$|origin-agent-cluster$|permissions-policy$|pragma$|referrer-policy$|retry-after$|strict-transport-security$|transfer-encoding$|vary$|x-)/;

export class AnswerChecker {
  // qa/test/openapi.unit.spec.ts validates the documents.
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  private readonly compiled = new Map<string | Json, ValidateFunction>();
  private readonly paths: readonly (readonly [pattern: RegExp, operations: Record<string, Operation>])[];

  constructor(
    private readonly document: {
      readonly paths: object;
      readonly components: Components;
    },
  ) {
    addFormats.default(this.ajv);
    this.paths = Object.entries(document.paths).map(([template, operations]) => [
      patternOf(template),
      operations as Record<string, Operation>,
    ]);
  }

  /** Lists the differences from the description. Ignores operations without a description. */
  problems({ method, path, request, status, headers, body }: Exchange): string[] {
    const operation = this.operation(method, path);
    if (!operation) return [];
    const where = `${operation.operationId} ${status}`;
    const described = this.resolve(operation.responses[status]);
    if (!described) return [`${where}: the status is not described`];
    return [
      ...this.headerProblems(described.headers ?? {}, headers),
      ...this.bodyProblems(`${operation.operationId}/${status}`, described, headers, body),
      // A page that continues takes the place of a redirect.
      ...(status < 300 && continuationOf(body) === null ? this.requestProblems(operation, request) : []),
    ].map((problem) => `${where}: ${problem}`);
  }

  /** Returns the fixed Cache-Control; undefined if the operation has no fixed value. */
  cacheControl({ method, path, status }: Pick<Exchange, 'method' | 'path' | 'status'>): string | undefined {
    const operation = this.operation(method === 'HEAD' ? 'GET' : method, path);
    return this.fixedCacheControl(operation?.responses[status]);
  }

  get cacheControls(): readonly string[] {
    const responses = this.paths
      .flatMap(([, operations]) => Object.values<Partial<Operation>>(operations))
      .flatMap((operation) => Object.values(operation.responses ?? {}));
    return responses.flatMap((response) => this.fixedCacheControl(response) ?? []);
  }

  private operation(method: string, path: string): Operation | undefined {
    return this.paths.find(([pattern]) => pattern.test(path))?.[1][method.toLowerCase()];
  }

  private fixedCacheControl(response: Response | undefined): string | undefined {
    const header = this.resolve(this.resolve(response)?.headers?.['Cache-Control']);
    const [value] = (header?.schema['enum'] ?? []) as string[];
    return value;
  }

  private resolve<Part extends Reference>(part: Part | undefined): Part | undefined {
    if (part?.$ref === undefined) return part;
    const [kind, name] = part.$ref.split('/').slice(-2) as [keyof Components, string];
    return (this.document.components[kind] as Readonly<Record<string, Part>> | undefined)?.[name];
  }

  private headerProblems(
    described: Readonly<Record<string, Header>>,
    headers: Readonly<Record<string, unknown>>,
  ): string[] {
    const known = new Map(
      Object.entries(described).flatMap(([name, part]) => {
        const header = this.resolve(part);
        return header ? [[name.toLowerCase(), header]] : [];
      }),
    );
    const missing = [...known].filter(([name, { required }]) => required && headers[name] === undefined);
    const other = Object.keys(headers).filter((name) => !known.has(name) && !COMMON.test(name));
    const wrong = [...known].filter(([name, { schema }]) => {
      const value = headers[name];
      return value !== undefined && !this.validator(schema, () => schema)(parsed(value, schema));
    });
    return [
      ...missing.map(([name]) => `the header ${name} is missing`),
      ...other.map((name) => `the header ${name} is not described`),
      ...wrong.map(([name]) => `the header ${name} has another value`),
    ];
  }

  private bodyProblems(
    key: string,
    { content = {} }: Response,
    headers: Readonly<Record<string, unknown>>,
    body: string,
  ): string[] {
    if (body === '') return Object.keys(content).length === 0 ? [] : ['the body is missing'];
    const [type = ''] = String(headers['content-type']).split(';', 1);
    const media = content[type] ?? content[type.replace(/\/.*/, '/*')];
    if (!media) return [`the media type ${type} is not described`];
    if (!type.endsWith('json')) return [];
    return this.violations(key, media.schema, JSON.parse(body));
  }

  private requestProblems({ operationId, requestBody }: Operation, request: unknown): string[] {
    const [media] = Object.values(requestBody?.content ?? {});
    if (!media || request === undefined) return [];
    return this.violations(operationId, media.schema, { ...(request as object) }, false).map(
      (problem) => `request: ${problem}`,
    );
  }

  private violations(key: string, schema: Json, value: unknown, strict = true): string[] {
    const validate = this.validator(key, () => this.inline(schema, strict));
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  private validator(key: string | Json, schema: () => Json): ValidateFunction {
    const known = this.compiled.get(key) ?? this.ajv.compile(schema());
    this.compiled.set(key, known);
    return known;
  }

  /** Resolves references. @param strict true to reject undeclared fields, although clients must accept them */
  private inline(schema: Json, strict: boolean, isWhole = true): Json {
    const { $ref, ...own } = schema;
    if (typeof $ref === 'string') {
      const name = $ref.split('/').at(-1) ?? '';
      const target = (this.document.components.schemas as Readonly<Record<string, Json>>)[name];
      return this.inline({ ...target, ...own }, strict, isWhole);
    }
    const isClosed = own['additionalProperties'] === undefined && ('properties' in own || isComposed(own));
    return {
      ...Object.fromEntries(
        Object.entries(own).map(([key, value]) => [key, this.inlineKeyword(key, value, strict)]),
      ),
      ...(strict && isWhole && isClosed && { unevaluatedProperties: false }),
    };
  }

  private inlineKeyword(keyword: string, value: unknown, strict: boolean): unknown {
    if (COMPOSING.includes(keyword)) return (value as Json[]).map((part) => this.inline(part, strict, false));
    if (keyword === 'items') return this.inline(value as Json, strict);
    if (keyword !== 'properties') return value;
    const properties = Object.entries(value as Readonly<Record<string, Json>>);
    return Object.fromEntries(properties.map(([name, schema]) => [name, this.inline(schema, strict)]));
  }
}

const COMPOSING: readonly string[] = ['allOf', 'oneOf', 'anyOf'];
const isComposed = (schema: Json): boolean => COMPOSING.some((keyword) => keyword in schema);

function patternOf(template: string): RegExp {
  const pattern = template.replaceAll(/[.+]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}/?$`);
}

/** Converts a header value to the type in its schema. */
function parsed(value: unknown, { type }: Json): unknown {
  return type === 'integer' ? Number(value) : Array.isArray(value) ? value.join(', ') : String(value);
}

const load = (app: string) =>
  new AnswerChecker(
    JSON.parse(readFileSync(`apps/${app}/src/openapi/openapi.json`, 'utf8')) as ConstructorParameters<
      typeof AnswerChecker
    >[0],
  );

const authorizationServer = load('token');

export const DESCRIPTIONS = {
  authorize: authorizationServer,
  token: authorizationServer,
  resource: load('resource'),
  console: load('console'),
};

class AnswerReport {
  private readonly problems = new Set<string>();

  add(problems: readonly string[]): void {
    for (const problem of problems) this.problems.add(problem);
  }

  /** @throws Error that lists every difference */
  throwProblems(): void {
    if (this.problems.size === 0) return;
    throw new Error(`answers differ from openapi.json:\n${[...this.problems].join('\n')}`);
  }
}

/** Adds a hook that compares every response with its description. */
export function checkingAnswers<Configuration>(
  service: Service<Configuration>,
): Service<Configuration> & { readonly report: AnswerReport } {
  const report = new AnswerReport();
  const checker = DESCRIPTIONS[service.name as keyof typeof DESCRIPTIONS];
  const configure = async (app: NestFastifyApplication): Promise<void> => {
    await service.configure?.(app);
    addHook(app.getHttpAdapter().getInstance(), checker, report);
  };
  return { ...service, configure, report };
}

function addHook(fastify: FastifyInstance, checker: AnswerChecker, report: AnswerReport): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    // Either no route has this path, or the route belongs to another configuration.
    if (request.is404) {
      done(null, payload);
      return;
    }
    const [path = ''] = request.url.split('?', 1);
    const found = checker.problems({
      method: request.method,
      path,
      request: request.body,
      status: reply.statusCode,
      headers: reply.getHeaders(),
      body: Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.toString() : '',
    });
    report.add(found);
    done(null, payload);
  });
}
