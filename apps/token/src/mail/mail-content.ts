import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { KeyRing } from '#keys/key-ring.js';
import type { Mail, MailValues, OpenRequests } from '#mail/mail.store.js';
import type { MailKind } from '#mail/mail.entity.js';
import type { MailRequest } from '#messaging/contract.js';
import { LOCALES } from '#oauth/locale.js';
import { CatalogueTranslator, chooseLocale } from '#ui/i18n.js';
import { TokenConfiguration } from '../token.configuration.js';
import { type MailMessageId, MESSAGES } from './i18n/messages.js';

const MAX_NAME = 60;
const HOUR_MS = 3_600_000;

type OwnerKind = Exclude<MailKind, 'invitation' | 'digest'>;

/** Composes mails as plain text, in the language of the user. */
@Injectable()
export class MailContent {
  constructor(
    private readonly configuration: TokenConfiguration,
    private readonly keys: KeyRing,
  ) {}

  /** @returns token of the link, the same in each attempt while the signing key is the same */
  invitationToken(invitationId: string): Buffer {
    return createHmac('sha256', this.keys.signingKeyFor('invitation')).update(invitationId).digest();
  }

  toUser(mail: Mail, values: MailValues): MailRequest {
    const locale = chooseLocale({ setting: values.locale });
    const translator = new CatalogueTranslator(MESSAGES, locale);
    const { PRODUCT_NAME: product, DEVELOPERS_URL: portal } = this.configuration;
    const application = withoutLinks(values.application);
    const date = values.expiresAt === null ? '' : translator.date(values.expiresAt, values.timeZone);
    const shown = { product, application, date, inviter: inviterOf(values) };
    const text = (id: MailMessageId) => translator.text(id, shown);
    const { kind } = mail;
    const page = new URL(pathOf(mail), portal);
    const [subject, ...paragraphs] =
      kind === 'invitation'
        ? [
            text('invitation.subject'),
            text(`invitation.${values.role ?? 'tester'}`),
            `${portal}/invitation?token=${this.invitationToken(mail.about ?? '').toString('base64url')}`,
            text('invitation.note'),
          ]
        : [
            text(`${kind as OwnerKind}.subject`),
            text(`${kind as OwnerKind}.text`),
            page.href,
            text('owner.note'),
          ];
    return {
      id: mail.id,
      kind,
      to: values.email,
      language: locale,
      subject,
      text: `${paragraphs.join('\n\n')}\n`,
    };
  }

  /** The digest is in English, like the console. */
  toOperator(mail: Mail, { count, oldest }: OpenRequests, now: number): MailRequest {
    const { OPERATOR_MAIL, CONSOLE_URL, PRODUCT_NAME } = this.configuration;
    const noun = count === 1 ? 'open request' : 'open requests';
    const lines = oldest.map(
      ({ name, submittedAt }) => `- “${withoutLinks(name)}”: ${ageOf(now - submittedAt.getTime())}`,
    );
    if (count > oldest.length) lines.push(`- and ${count - oldest.length} more`);
    const where = CONSOLE_URL === '' ? 'Review them with: operator request list' : `${CONSOLE_URL}/requests`;
    return {
      id: mail.id,
      kind: mail.kind,
      to: OPERATOR_MAIL,
      language: LOCALES[0],
      subject: `${PRODUCT_NAME}: ${count} ${noun} of owners of applications`,
      text: `${count} ${noun}, oldest first:\n\n${lines.join('\n')}\n\n${where}\n`,
    };
  }
}

function pathOf({ kind, clientId, about }: Mail): string {
  if (kind === 'question' || kind === 'approved' || kind === 'rejected') return `/requests/${about}`;
  return `/applications/${encodeURIComponent(clientId ?? '')}`;
}

/** Addresses with other characters than these can contain a URL, also verified ones. */
const PLAIN_ADDRESS = /^[\w.+-]+@[\w.-]+$/;

function inviterOf({ inviter, inviterEmail }: MailValues): string {
  const name = `“${withoutLinks(inviter ?? '')}”`;
  return PLAIN_ADDRESS.test(inviterEmail ?? '') ? `${name} (${inviterEmail})` : name;
}

function ageOf(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

/**
 * Returns an untrusted name as one short line. Mail programs turn text that looks like an address or URL into a link, so
 * spaces separate its parts.
 */
export function withoutLinks(name: string): string {
  const line = name
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .replaceAll(/[“”„"«»]/g, "'")
    .replaceAll(/([.。．｡:@/\\])(?=\S)/g, '$1 ')
    .trim();
  const letters = Array.from(line);
  return letters.length > MAX_NAME ? `${letters.slice(0, MAX_NAME - 1).join('')}…` : line;
}
