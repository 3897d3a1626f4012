import {
  Body,
  Controller,
  Get,
  type HttpRedirectResponse,
  Param,
  ParseEnumPipe,
  Post,
  Req,
  Res,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { refused } from '#operations/administration.error.js';
import type { Form } from '#pages/form.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RateLimits } from '#pages/rate-limit.js';
import { providerFetch } from '#platform/http/provider-fetch.js';
import { problem } from '#platform/validation/problem.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { DevelopersConfiguration } from '../developers.configuration.js';
import { Languages } from '../ui/i18n/languages.js';
import { pathOf } from '../ui/parts.js';
import {
  exchangeOf,
  type Flow,
  isTriable,
  newFlow,
  requestOf,
  returnedAddress,
  type Step,
  STEPS,
  tokensOf,
} from './flow.js';
import { FlowStore } from './flow.store.js';
import { tryPage } from './try.page.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** The step needs the result of an earlier one. */
    flow_step_early: null;
  }
}

const STEP_NAMES = Object.fromEntries(STEPS.map((step) => [step, step])) as Record<Step, Step>;

/** Runs the flow of an application step by step. Requests only the configured URLs of this service. */
@Controller('applications/:id/try')
export class TryController {
  constructor(
    private readonly applications: ApplicationService,
    private readonly flows: FlowStore,
    private readonly limits: RateLimits,
    private readonly configuration: DevelopersConfiguration,
    private readonly languages: Languages,
  ) {}

  @Get()
  async show(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    const flow = await this.flows.read(request, id);
    return tryPage({
      ...this.languages.viewer(developer, request),
      client,
      flow,
      origins: this.configuration,
    });
  }

  @Post()
  @SentFrom('try')
  async start(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    const { redirectUris } = await this.client(developer, id);
    const redirectUri = redirectUris.find((uri) => uri === form.text('redirect_uri')) ?? redirectUris[0];
    await this.flows.write(request, id, newFlow(redirectUri ?? '', form.text('scope')));
    return seeOther(pathOf(id, 'try'));
  }

  /** The address has a code, so it is not kept during a login. */
  @Post('return')
  @SentFrom('../try', false)
  async return(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    await this.client(developer, id);
    const { returned: _, tokens: __, exchanges: ___, ...flow } = await this.flow(request, id);
    const returned = returnedAddress(flow, this.configuration.BASE_URL, form.text('address'));
    await this.flows.write(request, id, { ...flow, returned });
    return seeOther(`${pathOf(id, 'try')}#return`);
  }

  /** The secret is only in the request of the step. */
  @Post(':step')
  @SentFrom('../try', false)
  async step(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') id: string,
    @Param('step', new ParseEnumPipe(STEP_NAMES)) step: Step,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    const client = await this.client(developer, id);
    const flow = await this.flow(request, id);
    const secret = client.type === 'confidential' ? form.text('client_secret') : null;
    const sent = requestOf(step, this.configuration, id, secret, flow);
    if (!sent) throw early();
    await this.limits.take('steps', request, reply, this.flows.cookieOf(request));
    const response = await providerFetch(sent.url, sent);
    const text = await response.text();
    const tokens = { exchange: tokensOf(text), call: flow.tokens, refresh: tokensOf(text) ?? flow.tokens };
    await this.flows.write(request, id, {
      ...flow,
      tokens: (step === 'revoke' ? flow.tokens : tokens[step]) ?? null,
      exchanges: { ...flow.exchanges, [step]: exchangeOf(sent, response.status, text) },
    });
    return seeOther(`${pathOf(id, 'try')}#${step}`);
  }

  private async client(developer: Developer, id: string): Promise<OwnedClient> {
    const client = await this.applications.find(actorOf(developer), id);
    if (!isTriable(client)) throw early();
    return client;
  }

  private async flow(request: DeveloperRequest, id: string): Promise<Flow> {
    const flow = await this.flows.read(request, id);
    if (!flow) throw early();
    return flow;
  }
}

const early = () => refused('conflict', problem('flow_step_early', []));
