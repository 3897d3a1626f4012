import { Module } from '@nestjs/common';
import { JwksController } from './jwks.controller.js';
import { MetadataController } from './metadata.controller.js';

@Module({ controllers: [MetadataController, JwksController] })
export class MetadataModule {}
