import { Injectable } from '@nestjs/common';
import { ScopeCatalogue } from '#oauth/scope.js';
import { chooseLocale, dateLocale } from '#ui/i18n.js';
import type { DeveloperRequest } from '../../developer.js';
import { Translator } from './translator.js';

@Injectable()
export class Languages {
  constructor(private readonly scopes: ScopeCatalogue) {}

  /** Prefers the setting of the user to the languages of the browser. */
  translatorFor(request: DeveloperRequest): Translator {
    const acceptLanguage = request.headers['accept-language'];
    const locale = chooseLocale({ setting: request.locale, acceptLanguage });
    return (request.translator ??= new Translator(locale, dateLocale(locale, acceptLanguage), this.scopes));
  }
}
