import { Body, Controller, Get, Inject, NotFoundException, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ReviewService } from '#clients/operations/requests/review.service.js';
import { readLogo } from '#clients/registration/logo.js';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import type { Notices } from '#pages/components.js';
import type { PageRequest } from '#pages/account.js';
import { Form, queryOf } from '#pages/form.js';
import { SentBeforeLogin } from '#pages/kept-forms.service.js';
import type { Page } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { labelOf } from '../applications/application.form.js';
import { actorOf, CurrentOperator, type Operator } from '../operator.js';
import { RequireRole } from '../session/operator-accounts.js';
import { noticesOf } from '../ui/console-components.js';
import { type Decision, decisionPage, requestPage, requestsPage } from './request.page.js';

const NOTES: Readonly<Record<Decision, string>> = {
  approve: 'The request is approved.',
  ask: 'The question is sent. The request waits for the owner.',
  reject: 'The request is rejected.',
};

/** Reviews of the requests of application owners. Whoever may disable an application may ask; an admin decides. */
@Controller('requests')
export class RequestsController {
  constructor(
    private readonly reviews: ReviewService,
    private readonly scopes: ScopeCatalogue,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  async list(): Promise<Page> {
    return requestsPage(await this.reviews.queue(), this.clock());
  }

  @Get(':id')
  show(@CurrentOperator() operator: Operator, @Param('id') id: string): Promise<Page> {
    return this.page(operator, id);
  }

  /** Proposed logo of a live application. Its policy denies everything, even if it is opened alone. */
  @Get(':id/logo')
  async logo(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    const { logo } = (await this.reviews.find(id)).request.content as { readonly logo?: unknown };
    const { logo: read } = await readLogo(typeof logo === 'string' ? Buffer.from(logo, 'base64') : null);
    if (!read) throw new NotFoundException();
    reply.header('Content-Security-Policy', "default-src 'none'; sandbox").type(read.mediaType);
    return read.image;
  }

  @Get(':id/ask')
  @RequireRole('support')
  askPage(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
    @Req() request: PageRequest,
  ): Promise<Page> {
    return this.form(operator, id, 'ask', sent ?? reviewedIn(request));
  }

  @Post(':id/ask')
  @RequireRole('support')
  ask(@CurrentOperator() operator: Operator, @Param('id') id: string, @Body() form: Form): Promise<Page> {
    return this.decide(operator, id, 'ask', form);
  }

  @Get(':id/reject')
  @RequireRole('admin')
  rejectPage(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
    @Req() request: PageRequest,
  ): Promise<Page> {
    return this.form(operator, id, 'reject', sent ?? reviewedIn(request));
  }

  @Post(':id/reject')
  @RequireRole('admin')
  reject(@CurrentOperator() operator: Operator, @Param('id') id: string, @Body() form: Form): Promise<Page> {
    return this.decide(operator, id, 'reject', form);
  }

  @Get(':id/approve')
  @RequireRole('admin')
  @RecentLogin()
  approvePage(
    @CurrentOperator() operator: Operator,
    @Param('id') id: string,
    @SentBeforeLogin() sent: Form | null,
    @Req() request: PageRequest,
  ): Promise<Page> {
    return this.form(operator, id, 'approve', sent ?? reviewedIn(request));
  }

  @Post(':id/approve')
  @RequireRole('admin')
  @RecentLogin()
  approve(@CurrentOperator() operator: Operator, @Param('id') id: string, @Body() form: Form): Promise<Page> {
    return this.decide(operator, id, 'approve', form);
  }

  private async page(operator: Operator, id: string, changed: Notices = {}, status = 200): Promise<Page> {
    const reviewed = await this.reviews.find(id);
    return requestPage({ operator, reviewed, scopes: this.scopes, now: this.clock(), changed, status });
  }

  private async form(operator: Operator, id: string, decision: Decision, form: Form): Promise<Page> {
    return decisionPage({ operator, reviewed: await this.reviews.find(id), decision, form });
  }

  /** The decision counts for the version of the request that the operator has read. */
  private async decide(operator: Operator, id: string, decision: Decision, form: Form): Promise<Page> {
    const step = { version: Number(form.text('version')), ...form.filled('text') };
    try {
      const change = this.reviews[decision](actorOf(operator), id, step);
      return await this.page(operator, id, await noticesOf(NOTES[decision], change));
    } catch (error) {
      if (!(error instanceof AdministrationError)) throw error;
      const problems = describeProblems(error, labelOf);
      if (error.kind === 'outdated' || error.kind === 'conflict')
        return this.page(operator, id, { warnings: problems }, 409);
      if (error.kind !== 'invalid') throw error;
      return decisionPage({ operator, reviewed: await this.reviews.find(id), decision, form, problems });
    }
  }
}

/**
 * The page of the request links to the version that it shows, because the owner may change the request in the meantime.
 */
function reviewedIn({ url }: PageRequest): Form {
  return new Form({ version: queryOf(url).get('version') ?? '' });
}
