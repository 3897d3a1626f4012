import { Module } from '@nestjs/common';
import { BrandController } from './brand/brand.controller.js';
import { LanguageService } from './i18n/language.service.js';
import { PageResponder } from './page.responder.js';
import { ScriptController } from './script.controller.js';

@Module({
  controllers: [ScriptController, BrandController],
  providers: [LanguageService, PageResponder],
  exports: [LanguageService, PageResponder],
})
export class UiModule {}
