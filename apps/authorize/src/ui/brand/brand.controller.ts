import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiOperation, fixedHeader, type OperationDescription } from '#openapi/operation.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { imagesOf } from '#ui/brand/brand.js';
import type { BrandImage } from '#ui/brand/brand-image.js';
import { errorPages, IMAGE } from '../page.openapi.js';
import { UiOptions } from '../ui-options.js';

/** Cache-Control of images whose URL changes with the content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

const BRAND_OPERATION: OperationDescription = {
  id: 'brandImage',
  tag: 'Pages',
  summary: 'Logo or icon of the product',
  parameters: { name: { in: 'path', required: true, description: 'Digest and type of the image.' } },
  responses: {
    200: { description: 'The image.', headers: { 'Cache-Control': fixedHeader(IMMUTABLE) }, content: IMAGE },
    ...errorPages(404),
  },
};

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
