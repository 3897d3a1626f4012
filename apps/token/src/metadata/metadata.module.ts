import { Module } from '@nestjs/common';
import { OpenApiController } from '../openapi/openapi.controller.js';
import { ErrorsController } from './errors.controller.js';
import { MetadataController } from './metadata.controller.js';

@Module({ controllers: [MetadataController, ErrorsController, OpenApiController] })
export class MetadataModule {}
