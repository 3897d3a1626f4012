import { readFileSync } from 'node:fs';
import { AnswerChecker } from './answer-checker.js';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { Service } from '#platform/bootstrap/service.js';

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
