import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { ApiOperation } from '#openapi/operation.js';
import { UiOptions } from '../ui-options.js';
import { imagesOf } from '#ui/brand/brand.js';
import type { BrandImage } from '#ui/brand/brand-image.js';
import { BRAND_OPERATION, IMMUTABLE } from './brand.openapi.js';

@Controller(ENDPOINTS.brand)
export class BrandController {
  private readonly images: ReadonlyMap<string, BrandImage>;

  constructor({ brand }: UiOptions) {
    this.images = imagesOf(brand);
  }

  @Get(':name')
  @ApiOperation(BRAND_OPERATION)
  image(@Param('name') name: string, @Res() reply: FastifyReply): void {
    const image = this.images.get(name);
    if (!image) throw new OAuthError('not_found', 404, 'not_found.image');
    void reply
      // An SVG that is opened as a document may only apply its own styles.
      .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('Cache-Control', IMMUTABLE)
      .type(image.mediaType)
      .send(image.content);
  }
}
