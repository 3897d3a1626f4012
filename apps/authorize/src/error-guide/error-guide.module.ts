import { Module } from '@nestjs/common';
import { UiModule } from '../ui/ui.module.js';
import { ErrorGuideController } from './error-guide.controller.js';

@Module({ imports: [UiModule], controllers: [ErrorGuideController] })
export class ErrorGuideModule {}
