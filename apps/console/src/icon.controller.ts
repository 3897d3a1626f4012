import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Brand } from '#ui/brand/brand.js';
import { Public } from './session/operator.guard.js';
import { ICON_PATH } from './ui/page.responder.js';

@Controller()
export class IconController {
  constructor(private readonly brand: Brand) {}

  @Get(ICON_PATH)
  @Public()
  icon(@Res() reply: FastifyReply): void {
    const { mediaType, content } = this.brand.icon;
    void reply.header('Content-Security-Policy', "default-src 'none'; sandbox").type(mediaType).send(content);
  }
}
