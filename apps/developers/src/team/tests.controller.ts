import { Controller, Get, type HttpRedirectResponse, Param, Post } from '@nestjs/common';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import type { TestedClient } from '#clients/owners/client-member.store.js';
import { refused } from '#platform/validation/administration.error.js';
import { type Page, seeOther } from '#pages/page.responder.js';
import { problem } from '#platform/validation/problem.js';
import { CurrentViewer, type Viewer } from '../developer.js';
import { confirmPage, noted } from '../ui/parts.js';

/** Applications that the user tests, and does not own. */
@Controller('tests/:id/leave')
export class TestsController {
  constructor(private readonly members: ClientMemberService) {}

  @Get()
  async confirm(@CurrentViewer() viewer: Viewer, @Param('id') id: string): Promise<Page> {
    const { name } = await this.found(viewer, id);
    return confirmPage(viewer, {
      title: viewer.translator.text('tests.leave_title', { name }),
      text: viewer.translator.text('tests.leave_text'),
      path: `/tests/${encodeURIComponent(id)}/leave`,
      button: viewer.translator.text('team.leave'),
      back: '/',
    });
  }

  @Post()
  async leave(@CurrentViewer() viewer: Viewer, @Param('id') id: string): Promise<HttpRedirectResponse> {
    await this.found(viewer, id);
    await this.members.remove(viewer.actor, id, 'tester', viewer.actor.userId);
    return seeOther(noted('/', 'changed'));
  }

  private async found({ actor: { userId } }: Viewer, clientId: string): Promise<TestedClient> {
    const found = (await this.members.tested()).find((each) => each.clientId === clientId);
    if (found) return found;
    throw refused('unknown', problem('member_unknown', [], { clientId, userId }));
  }
}
