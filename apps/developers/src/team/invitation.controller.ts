import { hash } from 'node:crypto';
import { Body, Controller, Get, type HttpRedirectResponse, Injectable, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { Form, queryOf } from '#pages/form.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { Public, RecentLogin } from '#pages/route-rules.js';
import { RateLimits } from '#pages/rate-limit.js';
import { RandomCookie } from '#ui/browser-cookie.js';
import { CurrentViewer, type DeveloperRequest, type Viewer } from '../developer.js';
import { DevelopersConfiguration } from '../developers.configuration.js';
import { acceptedPage, invitationPage, SHOWN_INVITATION } from './team.page.js';

/** Keeps the token of a link during the login, so that no other URL contains the token. */
@Injectable()
export class InvitationCookie extends RandomCookie {
  constructor({ DEVELOPERS_URL }: DevelopersConfiguration) {
    super('developers_invitation', DEVELOPERS_URL);
  }
}

@Controller('invitation')
export class InvitationController {
  constructor(
    private readonly members: ClientMemberService,
    private readonly cookie: InvitationCookie,
    private readonly limits: RateLimits,
  ) {}

  /** Moves the token from the link to a cookie. */
  @Get()
  @Public()
  async open(
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HttpRedirectResponse> {
    await this.limits.take('login', request, reply);
    const token = queryOf(request.url).get('token') ?? '';
    if (/^[A-Za-z0-9_-]{43}$/.test(token)) reply.header('Set-Cookie', this.cookie.set(token));
    return seeOther('/invitation/accept');
  }

  @Get('accept')
  @RecentLogin()
  async show(@CurrentViewer() viewer: Viewer, @Req() request: DeveloperRequest): Promise<Page> {
    const token = this.tokenOf(request);
    return invitationPage(viewer, await this.members.invitation(token), digestOf(token));
  }

  /** Accepts the invitation that the form showed. Shows the invitation of a link that was opened after the form. */
  @Post('accept')
  @RecentLogin()
  async accept(
    @CurrentViewer() viewer: Viewer,
    @Body() form: Form,
    @Req() request: DeveloperRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page> {
    const token = this.tokenOf(request);
    if (form.text(SHOWN_INVITATION) !== digestOf(token)) return this.show(viewer, request);
    const { result } = await this.members.accept(viewer.actor, token);
    reply.header('Set-Cookie', this.cookie.clear());
    return acceptedPage(viewer, result);
  }

  private tokenOf({ headers }: DeveloperRequest): string {
    return this.cookie.read(headers.cookie) ?? '';
  }
}

/** Identifies an invitation in a form, which may be kept during a login, and must not contain the token. */
const digestOf = (token: string): string => hash('sha256', token, 'base64url');
