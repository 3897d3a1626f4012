import { Injectable } from '@nestjs/common';
import { button, postForm } from '#pages/components.js';
import { type Frame, menuLinks, type Page, PageFrame } from '#pages/page.responder.js';
import { Brand } from '#ui/brand/brand.js';
import { html, type Html } from '#ui/html.js';
import type { Developer, DeveloperRequest } from '../developer.js';
import { Languages } from './i18n/languages.js';
import type { Translator } from './i18n/translator.js';

@Injectable()
export class DevelopersFrame extends PageFrame {
  constructor(
    private readonly brand: Brand,
    private readonly languages: Languages,
  ) {
    super();
  }

  of(request: DeveloperRequest, { section }: Page): Frame {
    const translator = this.languages.translatorFor(request);
    const { developer } = request;
    return {
      language: translator.locale,
      direction: translator.direction,
      skip: translator.text('frame.skip'),
      header: translator.text('frame.header', { product: this.brand.productName }),
      menu: developer ? menuOf(translator, developer, section) : null,
      repeatedAt: (time) => translator.text('frame.repeated', { time: translator.time(time) }),
    };
  }
}

function menuOf(translator: Translator, developer: Developer, current: string | undefined): Html {
  const sections = { '/': translator.text('list.title'), '/requests/new': translator.text('request.new') };
  return html`<nav aria-label="${translator.text('frame.menu')}">
    ${menuLinks(sections, current)}
    ${postForm(
      developer,
      '/logout',
      html`<span class="quiet"><bdi>${developer.name}</bdi></span>
        ${button(translator.text('frame.log_out'), 'plain')}`,
      '',
    )}
  </nav>`;
}
