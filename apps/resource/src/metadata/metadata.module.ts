import { Module } from '@nestjs/common';
import { OpenApiController } from '../openapi/openapi.controller.js';
import { MetadataController } from './metadata.controller.js';

@Module({ controllers: [MetadataController, OpenApiController] })
export class MetadataModule {}
