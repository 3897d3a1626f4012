import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { PageResponder } from './ui/page.responder.js';

@Controller()
export class HomeController {
  constructor(private readonly pages: PageResponder) {}

  @Get()
  home(@Res() reply: FastifyReply): void {
    this.pages.seeOther(reply, '/applications');
  }
}
