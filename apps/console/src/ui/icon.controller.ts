import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Brand } from '#ui/brand/brand.js';
import { Public } from '../session/operator.guard.js';

export const BRAND = Symbol('brand');

export const ICON_PATH = '/icon';

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
