import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type AdministrationError, refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { ClientService } from '#clients/operations/client.service.js';
import { type Locale, LOCALES } from '#oauth/locale.js';
import { html } from '#ui/html.js';
import { type Form, QueryForm } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';
import { languageName } from '../ui/console-components.js';
import { pathOf } from './application.page.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    consent_page_unreadable: null;
  }
}

/** Hash of an inline style sheet (Content Security Policy Level 3, 2.3.1). */
const STYLE_SOURCE = /^'sha256-[A-Za-z0-9+/]{43}='$/;

function unreadable(): AdministrationError {
  return refused('unavailable', problem('consent_page_unreadable', []));
}

@Controller('applications/:id/consent')
export class ConsentPreviewController {
  constructor(private readonly clients: ClientService) {}

  @Get()
  async show(@Param('id') id: string, @QueryForm() query: Form): Promise<Page> {
    const { name } = await this.clients.find(id);
    const locale = LOCALES.find((known) => known === query.text('language')) ?? LOCALES[0];
    return {
      title: phrase('Consent page of {name}', { name }),
      frames: true,
      section: '/applications',
      content: html`
        <p>
          What users see when the application requests access for the first time. Buttons and links do not
          work in this preview.
        </p>
        <ul class="plain actions">
          ${LOCALES.map((language) => html`<li><a href="${pathOf(id, `consent?language=${language}`)}" ${language === locale && html`aria-current="true"`}>${languageName(language)}</a></li>`)}
        </ul>
        <iframe
          sandbox
          src="${pathOf(id, `consent/${locale}`)}"
          title="${phrase('Consent page in {language}', { language: languageName(locale) })}"
        ></iframe>
        <p><a class="button even" href="${pathOf(id)}">Go to the application</a></p>
      `,
    };
  }

  /** Document of the frame. Its policy denies an origin, scripts, forms and navigation, even outside the frame. */
  @Get(':locale')
  async document(
    @Param('id') id: string,
    @Param('locale') locale: Locale,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { document, style } = await this.clients.consentPreview(id, locale);
    // `style` comes from another process and must not add a directive to the policy.
    if (!STYLE_SOURCE.test(style)) throw unreadable();
    const policy = [
      'sandbox',
      "default-src 'none'",
      `style-src ${style}`,
      'img-src data:',
      "form-action 'none'",
      "frame-ancestors 'self'",
      "base-uri 'none'",
    ];
    reply
      .header('Content-Security-Policy', policy.join('; '))
      .header('X-Frame-Options', 'SAMEORIGIN')
      .header('Content-Language', locale)
      .type('text/html; charset=utf-8');
    return document;
  }
}
