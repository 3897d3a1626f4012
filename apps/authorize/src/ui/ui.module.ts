import { Module } from '@nestjs/common';
import { LanguageService } from './i18n/language.service.js';
import { PageResponder } from './page.responder.js';
import { ScriptController } from './script.controller.js';

/** Pages in the user's language. */
@Module({
  controllers: [ScriptController],
  providers: [LanguageService, PageResponder],
  exports: [LanguageService, PageResponder],
})
export class UiModule {}
