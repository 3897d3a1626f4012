import { once } from 'node:events';
import { PassThrough, type Writable } from 'node:stream';
import { Controller, Get, Logger, StreamableFile, UseInterceptors } from '@nestjs/common';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { ClientService } from '#clients/operations/client.service.js';
import { UserService } from '#users/operations/user.service.js';
import { AuditService, type SelectedEvents } from '#audit/operations/audit.service.js';
import { jsonText } from '#operations/wording.js';
import { labelOf } from '../applications/application.form.js';
import { ConcurrencyLimitInterceptor } from '../concurrency-limit.interceptor.js';
import { type Form, QueryForm } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { utc } from '#pages/format.js';
import { namesOf } from './event-text.js';
import { auditPage, type Filters, FILTERS } from './audit.page.js';

@Controller('audit')
@UseInterceptors(ConcurrencyLimitInterceptor)
export class AuditController {
  private readonly logger = new Logger('audit export');

  constructor(
    private readonly audit: AuditService,
    private readonly clients: ClientService,
    private readonly users: UserService,
  ) {}

  @Get()
  async search(@QueryForm() query: Form): Promise<Page> {
    const filters = query.filled(...FILTERS);
    try {
      const events = await this.audit.page({ ...inputOf(filters), ...query.filled('cursor') });
      const names = await namesOf(events.items, this.clients, this.users);
      return auditPage(filters, { ...events, names });
    } catch (error) {
      if (!(error instanceof AdministrationError) || error.kind === 'unavailable') throw error;
      // Shows the form again, so that the operator can correct an unknown name.
      return auditPage(filters, null, describeProblems(error, labelOf));
    }
  }

  @Get('events.jsonl')
  async export(@QueryForm() query: Form): Promise<StreamableFile> {
    const selected = await this.audit.select(inputOf(query.filled(...FILTERS)));
    const output = new PassThrough();
    let written = Promise.resolve();
    const first = new Promise<void>((resolve) => {
      written = writeEvents(selected, output, resolve);
    });
    // If reading fails before the first event, the response is an error page.
    await Promise.race([first, written]);
    written.catch((error: Error) => {
      // Breaks the connection, because a file that ended normally would look complete.
      if (!output.destroyed) this.logger.warn(error);
      output.destroy(error);
    });
    return new StreamableFile(output, {
      type: 'application/x-ndjson',
      disposition: 'attachment; filename="events.jsonl"',
    });
  }
}

/** Writes at the speed at which the client reads, and stops when the client disconnects. */
async function writeEvents(selected: SelectedEvents, output: Writable, onEvent: () => void): Promise<void> {
  const closed = new AbortController();
  output.once('close', () => closed.abort());
  await selected.read(async (event) => {
    onEvent();
    closed.signal.throwIfAborted();
    if (!output.write(`${jsonText(event)}\n`)) await once(output, 'drain', { signal: closed.signal });
  });
  output.end();
}

function inputOf({ type, since, until, ...filters }: Filters): object {
  return {
    ...filters,
    ...(type !== undefined && { types: [type] }),
    ...(since !== undefined && { since: utc(since) }),
    ...(until !== undefined && { until: utc(until) }),
  };
}
