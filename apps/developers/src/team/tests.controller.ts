import { Controller, Get, type HttpRedirectResponse, Param, Post, Req } from '@nestjs/common';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { refused } from '#operations/administration.error.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { problem } from '#platform/validation/problem.js';
import { actorOf, CurrentDeveloper, type Developer, type DeveloperRequest } from '../developer.js';
import { Languages } from '../ui/i18n/languages.js';
import { confirmPage, noted } from '../ui/parts.js';

/** Applications that the user tests, and does not own. */
@Controller('tests/:id/leave')
export class TestsController {
  constructor(
    private readonly members: ClientMemberService,
    private readonly languages: Languages,
  ) {}

  @Get()
  async confirm(
    @CurrentDeveloper() developer: Developer,
    @Req() request: DeveloperRequest,
    @Param('id') id: string,
  ): Promise<Page> {
    const { name } = await this.found(developer, id);
    const viewer = this.languages.viewer(developer, request);
    return confirmPage(viewer, {
      title: viewer.translator.text('tests.leave_title', { name }),
      text: viewer.translator.text('tests.leave_text'),
      path: `/tests/${encodeURIComponent(id)}/leave`,
      button: viewer.translator.text('team.leave'),
      back: '/',
    });
  }

  @Post()
  async leave(
    @CurrentDeveloper() developer: Developer,
    @Param('id') id: string,
  ): Promise<HttpRedirectResponse> {
    await this.found(developer, id);
    await this.members.remove(actorOf(developer), id, 'tester', developer.userId);
    return seeOther(noted('/', 'changed'));
  }

  private async found({ userId }: Developer, clientId: string) {
    const found = (await this.members.tested()).find((each) => each.clientId === clientId);
    if (found) return found;
    throw refused('unknown', problem('member_unknown', [], { clientId, userId }));
  }
}
