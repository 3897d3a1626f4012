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
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { refused } from '#platform/validation/administration.error.js';
import type { Form } from '#pages/form.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RateLimits } from '#pages/rate-limit.js';
import { providerFetch } from '#platform/http/provider-fetch.js';
import { problem } from '#platform/validation/problem.js';
import { Application, CurrentViewer, type DeveloperRequest, type Viewer } from '../developer.js';
import { DevelopersConfiguration } from '../developers.configuration.js';
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
    /** The portal cannot run the flow of the application. */
    flow_impossible: null;
  }
}

const STEP_NAMES = Object.fromEntries(STEPS.map((step) => [step, step])) as Record<Step, Step>;

/** Runs the flow of an application step by step. Requests only the configured URLs of this service. */
@Controller('applications/:id/try')
export class TryController {
  constructor(
    private readonly flows: FlowStore,
    private readonly limits: RateLimits,
    private readonly configuration: DevelopersConfiguration,
  ) {}

  @Get()
  async show(
    @CurrentViewer() viewer: Viewer,
    @Req() request: DeveloperRequest,
    @Application() client: OwnedClient,
  ): Promise<Page> {
    const flow = await this.flows.read(request, client.clientId);
    return tryPage({ ...viewer, client, flow, origins: this.configuration });
  }

  @Post()
  @SentFrom('try')
  async start(
    @Req() request: DeveloperRequest,
    @Application() client: OwnedClient,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    const { clientId, redirectUris } = triable(client);
    const redirectUri = redirectUris.find((uri) => uri === form.text('redirect_uri')) ?? redirectUris[0];
    await this.flows.write(request, clientId, newFlow(redirectUri ?? '', form.text('scope')));
    return seeOther(pathOf(clientId, 'try'));
  }

  /** The address has a code, so it is not kept during a login. */
  @Post('return')
  @SentFrom('../try', false)
  async return(
    @Req() request: DeveloperRequest,
    @Application() client: OwnedClient,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    const { clientId } = triable(client);
    const { returned: _, tokens: __, exchanges: ___, ...flow } = await this.flow(request, clientId);
    const returned = returnedAddress(flow, this.configuration.BASE_URL, form.text('address'));
    await this.flows.write(request, clientId, { ...flow, returned });
    return seeOther(`${pathOf(clientId, 'try')}#return`);
  }

  /** The secret is only in the request of the step. */
  @Post(':step')
  @SentFrom('../try', false)
  async step(
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Application() client: OwnedClient,
    @Param('step', new ParseEnumPipe(STEP_NAMES)) step: Step,
    @Body() form: Form,
  ): Promise<HttpRedirectResponse> {
    const { clientId, type } = triable(client);
    const flow = await this.flow(request, clientId);
    const secret = type === 'confidential' ? form.text('client_secret') : null;
    const sent = requestOf(step, this.configuration, clientId, secret, flow);
    if (!sent) throw early();
    await this.limits.take('steps', request, reply, this.flows.cookieOf(request));
    const response = await providerFetch(sent.url, sent);
    const text = await response.text();
    const tokens = { exchange: tokensOf(text), call: flow.tokens, refresh: tokensOf(text) ?? flow.tokens };
    await this.flows.write(request, clientId, {
      ...flow,
      tokens: (step === 'revoke' ? flow.tokens : tokens[step]) ?? null,
      exchanges: { ...flow.exchanges, [step]: exchangeOf(sent, response.status, text) },
    });
    return seeOther(`${pathOf(clientId, 'try')}#${step}`);
  }

  private async flow(request: DeveloperRequest, clientId: string): Promise<Flow> {
    const flow = await this.flows.read(request, clientId);
    if (!flow) throw early();
    return flow;
  }
}

function triable(client: OwnedClient): OwnedClient {
  if (!isTriable(client)) throw refused('conflict', problem('flow_impossible', []));
  return client;
}

const early = () => refused('conflict', problem('flow_step_early', []));
