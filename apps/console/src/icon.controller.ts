import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Brand } from '#ui/brand/brand.js';
import { Public } from './session/operator.guard.js';
import { BRAND, ICON_PATH } from './ui/page.responder.js';

@Controller()
export class IconController {
  constructor(@Inject(BRAND) private readonly brand: Brand) {}

  @Get(ICON_PATH)
  @Public()
  icon(@Res() reply: FastifyReply): void {
    const { mediaType, content } = this.brand.icon;
    void reply.header('Content-Security-Policy', "default-src 'none'; sandbox").type(mediaType).send(content);
  }
}
