import { Injectable } from '@nestjs/common';
import { button, postForm } from '#pages/components.js';
import { type Frame, menuLinks, type Page, PageFrame } from '#pages/page.responder.js';
import { moment, phrase } from '#pages/format.js';
import { Brand } from '#ui/brand/brand.js';
import { html, type Html } from '#ui/html.js';
import type { Operator, OperatorRequest } from '../operator.js';

const SECTIONS = {
  '/': 'Overview',
  '/applications': 'Applications',
  '/requests': 'Requests',
  '/users': 'Users',
  '/operators': 'Operators',
  '/jobs': 'Bulk actions',
  '/events': 'What happened',
  '/audit': 'Audit',
  '/health': 'Health',
} as const;

export type Section = keyof typeof SECTIONS;

@Injectable()
export class ConsoleFrame extends PageFrame {
  constructor(private readonly brand: Brand) {
    super();
  }

  of({ operator }: OperatorRequest, { section }: Page): Frame {
    return {
      language: 'en',
      direction: 'ltr',
      skip: 'Skip to content',
      header: phrase('{product} console', { product: this.brand.productName }),
      menu: operator ? menuOf(operator, section) : null,
      repeatedAt: (time) =>
        phrase('You sent this form again, and it was not executed again. This is its result of {time}.', {
          time: moment(time),
        }),
    };
  }
}

function menuOf(operator: Operator, current: string | undefined): Html {
  return html`<nav aria-label="Menu">
    ${menuLinks(SECTIONS, current)}
    ${postForm(
      operator,
      '/logout',
      html`<span class="quiet"><bdi>${operator.name}</bdi> (${operator.role})</span>
        ${button('Log out', 'plain')}`,
      '',
    )}
  </nav>`;
}
