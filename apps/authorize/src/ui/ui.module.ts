import { Module } from '@nestjs/common';
import { BrandController } from './brand/brand.controller.js';
import { LanguageService } from './i18n/language.service.js';
import { UserPageResponder } from './user-page.responder.js';
import { ScriptController } from './script.controller.js';

@Module({
  controllers: [ScriptController, BrandController],
  providers: [LanguageService, UserPageResponder],
  exports: [LanguageService, UserPageResponder],
})
export class UiModule {}
