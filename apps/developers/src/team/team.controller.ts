import { Body, Controller, Get, type HttpRedirectResponse, Param, ParseUUIDPipe, Post } from '@nestjs/common';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import type { Member } from '#clients/owners/client-member.store.js';
import { Creates } from '#pages/form.interceptor.js';
import { type Form } from '#pages/form.js';
import { SentFrom } from '#pages/kept-forms.service.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { RecentLogin } from '#pages/route-rules.js';
import { Application, CurrentViewer, type Viewer } from '../developer.js';
import { DevelopersConfiguration } from '../developers.configuration.js';
import { noted, pathOf } from '../ui/parts.js';
import { invitedPage, removePage, teamPage } from './team.page.js';

@Controller('applications/:id')
export class TeamController {
  constructor(
    private readonly members: ClientMemberService,
    private readonly configuration: DevelopersConfiguration,
  ) {}

  @Get('team')
  async team(@CurrentViewer() viewer: Viewer, @Application() client: OwnedClient): Promise<Page> {
    return teamPage({
      ...viewer,
      client,
      members: await this.members.team(client.clientId),
      invitations: await this.members.invitations(client.clientId),
    });
  }

  @Post('invitations')
  @RecentLogin()
  @SentFrom('team')
  @Creates()
  async invite(@CurrentViewer() viewer: Viewer, @Param('id') id: string, @Body() form: Form): Promise<Page> {
    const kind = form.text('kind') as Member['kind'];
    const email = form.text('email').trim() || null;
    const { result } = await this.members.invite(viewer.actor, id, { kind, email });
    const link = `${this.configuration.DEVELOPERS_URL}/invitation?token=${result.token}`;
    return invitedPage(viewer, id, email === null ? { link } : { email });
  }

  @Post('invitations/:invitation/revoke')
  @SentFrom('../../team')
  async revokeInvitation(
    @CurrentViewer() { actor }: Viewer,
    @Param('id') id: string,
    @Param('invitation', new ParseUUIDPipe()) invitation: string,
  ): Promise<HttpRedirectResponse> {
    await this.members.revokeInvitation(actor, id, invitation);
    return seeOther(noted(pathOf(id, 'team'), 'changed'));
  }

  @Get('team/:kind/:member/remove')
  @RecentLogin()
  async confirmRemoval(
    @CurrentViewer() viewer: Viewer,
    @Application() client: OwnedClient,
    @Param('kind') kind: string,
    @Param('member') userId: string,
  ): Promise<Page> {
    const member = await this.memberOf(client.clientId, kind, userId);
    const isSelf = kind === 'owner' && member.userId === viewer.actor.userId;
    return removePage(viewer, client, member, isSelf);
  }

  @Post('team/:kind/:member/remove')
  @RecentLogin()
  async remove(
    @CurrentViewer() { actor }: Viewer,
    @Param('id') id: string,
    @Param('kind') kind: string,
    @Param('member') userId: string,
  ): Promise<HttpRedirectResponse> {
    const member = await this.memberOf(id, kind, userId);
    await this.members.remove(actor, id, member.kind, member.userId);
    const isGone = kind === 'owner' && member.userId === actor.userId;
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
