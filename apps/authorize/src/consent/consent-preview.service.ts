import { Injectable } from '@nestjs/common';
import { AuthorizationContextStore } from '#clients/authorization-context.store.js';
import { type ConsentPreviewReply, OPERATOR_SUBJECTS } from '#messaging/request-sender.js';
import { isAdminScope } from '#oauth/client-credentials.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { type Brand, imagesOf, imageUrl } from '#ui/brand/brand.js';
import type { BrandImage } from '#ui/brand/brand-image.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { OperatorResponder } from '../operator.responder.js';
import { isLocale } from '#ui/i18n.js';
import { Translator } from '../ui/i18n/language.service.js';
import { documentOf } from '../ui/user-page.responder.js';
import { UiOptions } from '../ui/ui-options.js';
import { consentPage } from './consent.page.js';
import { requestedScopes } from './interaction.js';

const ADA = { name: 'Ada Lovelace', email: 'ada@example.com', avatarUrl: null, timeZone: 'UTC' };

/** Renders the consent page of an application for operators, as a user without earlier decisions sees it. */
@Injectable()
export class ConsentPreviewService {
  constructor(
    private readonly contexts: AuthorizationContextStore,
    private readonly scopes: ScopeCatalogue,
    private readonly ui: UiOptions,
    private readonly configuration: AuthorizeConfiguration,
    requests: OperatorResponder,
  ) {
    requests.register(OPERATOR_SUBJECTS.consentPreview, ({ client_id: clientId, locale }) =>
      this.render(String(clientId), String(locale)),
    );
  }

  private async render(clientId: string, locale: string): Promise<ConsentPreviewReply> {
    const { client } = await this.contexts.find(clientId, null);
    if (!client || client.scopes.some(isAdminScope) || !isLocale(locale)) return { page: null };
    const [redirectUri = null] = client.redirectUris;
    const requested = { scope: this.scopes.inOrder(client.scopes).join(' '), resources: null };
    const scopes = requestedScopes(requested, client, []);
    const page = consentPage({
      translator: new Translator(locale, locale, this.scopes),
      request: { client, redirectUri, scopes, prompt: new Set() },
      user: ADA,
      cookie: '',
      nonce: '',
      query: '',
      product: this.configuration.PRODUCT_NAME,
      apis: [],
      avatarOrigins: [],
    });
    const { brand } = this.ui;
    const text = documentOf({ ...page, script: false }, brand);
    return { page: { document: standalone(text, brand), style: brand.styleSource } };
  }
}

/** Inlines the brand and removes the targets of links and forms, because another site shows the document. */
function standalone(document: string, brand: Brand): string {
  const withImages = [...imagesOf(brand).values()].reduce(
    (text, image) => text.replaceAll(`"${imageUrl(image)}"`, `"${dataUrl(image)}"`),
    document,
  );
  return withImages.replaceAll(/(<(?:a|form) [^>]*?)(?:href|action)="[^"]*"/g, '$1');
}

function dataUrl({ mediaType, content }: BrandImage): string {
  return `data:${mediaType};base64,${content.toString('base64')}`;
}
