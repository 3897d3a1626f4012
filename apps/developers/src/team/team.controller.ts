import { Body, Controller, Get, type HttpRedirectResponse, Param, Post, Req } from '@nestjs/common';
import { ApplicationService } from '#clients/operations/owners/application.service.js';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { refused } from '#operations/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import type { Member } from '#clients/owners/client-member.store.js';
import { Creates } from '#pages/form.interceptor.js';
import { type Form, queryOf } from '#pages/form.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { DevelopersConfiguration } from '../developers.configuration.js';
import { Languages } from '../ui/i18n/languages.js';
import { noted, pathOf } from '../ui/parts.js';
import { invitedPage, removePage, teamPage } from './team.page.js';

@Controller('applications/:id')
export class TeamController {
  constructor(
    private readonly applications: ApplicationService,
    private readonly members: ClientMemberService,
    private readonly configuration: DevelopersConfiguration,
    private readonly languages: Languages,
  ) {}

  @Get('team')
  async team(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    const [members, invitations] = [await this.members.team(id), await this.members.invitations(id)];
    return teamPage({
      ...this.languages.viewer(developer, request),
      client,
      members,
      invitations,
      userId: developer.userId,
      note: queryOf(request.url).get('note'),
    });
  }

  @Post('invitations')
  @RecentLogin()
  @SentFrom('team')
  @Creates()
  async invite(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Body() form: Form,
  ): Promise<Page> {
    const kind = form.text('kind') as Member['kind'];
    const email = form.text('email').trim() || null;
    const { result } = await this.members.invite(actorOf(developer), id, { kind, email });
    const link = `${this.configuration.DEVELOPERS_URL}/invitation?token=${result.token}`;
    return invitedPage(this.languages.viewer(developer, request), id, email === null ? { link } : { email });
  }

  @Post('invitations/:invitation/revoke')
  @SentFrom('../../team')
  async revokeInvitation(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Param('invitation') invitation: string,
  ): Promise<HttpRedirectResponse> {
    await this.members.revokeInvitation(actorOf(developer), id, invitation);
    return seeOther(noted(pathOf(id, 'team'), 'changed'));
  }

  @Get('team/:kind/:member/remove')
  @RecentLogin()
  async confirmRemoval(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
    @Param('kind') kind: string,
    @Param('member') userId: string,
  ): Promise<Page> {
    const client = await this.applications.find(actorOf(developer), id);
    const member = await this.memberOf(id, kind, userId);
    const isSelf = kind === 'owner' && member.userId === developer.userId;
    return removePage(this.languages.viewer(developer, request), client, member, isSelf);
  }

  @Post('team/:kind/:member/remove')
  @RecentLogin()
  async remove(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
    @Param('kind') kind: string,
    @Param('member') userId: string,
  ): Promise<HttpRedirectResponse> {
    const member = await this.memberOf(id, kind, userId);
    await this.members.remove(actorOf(developer), id, member.kind, member.userId);
    const isGone = kind === 'owner' && member.userId === developer.userId;
    return seeOther(noted(isGone ? '/' : pathOf(id, 'team'), 'changed'));
  }

  private async memberOf(id: string, kind: string, userId: string): Promise<Member> {
    const found = (await this.members.team(id)).find(
      (member) => member.kind === kind && String(member.userId) === userId,
    );
    if (!found)
      throw refused('unknown', problem('member_unknown', [], { clientId: id, userId: Number(userId) }));
    return found;
  }
}
