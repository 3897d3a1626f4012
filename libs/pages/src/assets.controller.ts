import { Controller, Get, Header, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Brand } from '#ui/brand/brand.js';
import { COPY_SCRIPT, COPY_SCRIPT_PATH } from './copy-script.js';
import { ICON_PATH } from './page.responder.js';
import { Public } from './route-rules.js';

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

/** Serves the script as a file, because the Content-Security-Policy does not allow inline code. */
@Controller()
export class CopyScriptController {
  @Get(COPY_SCRIPT_PATH)
  @Public()
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string {
    return COPY_SCRIPT;
  }
}
