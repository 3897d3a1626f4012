import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { PageResponder } from '../ui/page.responder.js';

/** The address without a path, which people type: it leads to the user's account. */
@Controller()
export class FrontController {
  constructor(private readonly pages: PageResponder) {}

  @Get()
  lead(@Res() reply: FastifyReply): void {
    this.pages.seeOther(reply, ENDPOINTS.account);
  }
}
