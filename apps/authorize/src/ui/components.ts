import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Client, ClientLinks } from '#clients/client.js';
import type { User } from '#users/user.js';
import { isLoopback } from '#oauth/redirect-uri.js';
import { html, type Html, unchanged } from '#ui/html.js';
import type { MessageId } from './i18n/messages.js';
import type { ShownScope } from '#ui/i18n.js';
import type { Translator } from './i18n/language.service.js';

export function destination(translator: Translator, url: string): Html {
  const { kind, place } = destinationOf(url);
  return translator.rich(`consent.goes_to.${kind}`, { place });
}

export function destinationOf(url: string): { readonly kind: 'site' | 'device'; readonly place: string } {
  const { protocol, host, hostname } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return { kind: 'device', place: protocol.slice(0, -1) };
  return { kind: isLoopback(hostname) ? 'device' : 'site', place: host };
}

/** Loads the logo from this origin for privacy. Screen readers skip the logo, because the name follows. */
export function clientAvatar({ name, logo }: Pick<Client, 'name' | 'logo'>): Html {
  return logo === null
    ? html`<span class="face" aria-hidden="true">${initial(name)}</span>`
    : html`<img class="face" src="${ENDPOINTS.logos}/${logo}" alt="" width="48" height="48" />`;
}

/** Logo and name of an application. */
export function clientParty(client: Pick<Client, 'name' | 'logo'>): Html {
  return html`<div class="party">
    ${clientAvatar(client)}
    <p>
      <strong><bdi>${client.name}</bdi></strong>
    </p>
  </div>`;
}

/** Links to the pages of an application and to its developer. The registration validates each URL. */
export function clientLinks(
  translator: Translator,
  { clientUri, policyUri, contacts }: ClientLinks,
): Html | false {
  const links: readonly (readonly [address: string, text: string])[] = [
    ...(clientUri === null ? [] : [[clientUri, translator.text('client.home')] as const]),
    ...(policyUri === null ? [] : [[policyUri, translator.text('client.policy')] as const]),
    ...contacts.map((contact) => [contactAddress(contact), contactText(contact)] as const),
  ];
  if (links.length === 0) return false;
  return html`<ul class="plain pages">
    ${links.map(
      ([address, text]) =>
        html`<li>
          <a class="alone" href="${address}" rel="noopener noreferrer nofollow" dir="auto">${text}</a>
        </li>`,
    )}
  </ul>`;
}

/** Encodes characters that have a special meaning in a mailto URI (RFC 6068 2). */
function contactAddress(contact: string): string {
  if (URL.canParse(contact)) return contact;
  const at = contact.lastIndexOf('@');
  return `mailto:${encodeURIComponent(contact.slice(0, at))}@${contact.slice(at + 1)}`;
}

function contactText(contact: string): string {
  return URL.canParse(contact) ? new URL(contact).host : contact;
}

/** Shows only pictures from AVATAR_ORIGINS. The Content-Security-Policy must allow `pictureOrigins`. */
export function userAvatar(
  { name, avatarUrl }: Pick<User, 'name' | 'avatarUrl'>,
  avatarOrigins: readonly string[],
): Html {
  return trustedOrigin(avatarUrl, avatarOrigins) === null
    ? html`<span class="face person" aria-hidden="true">${initial(name)}</span>`
    : html`<img class="face person" src="${avatarUrl}" alt="" width="40" height="40" />`;
}

/** Origin of the picture, for the Content-Security-Policy. */
export function pictureOrigins(
  { avatarUrl }: Pick<User, 'avatarUrl'>,
  avatarOrigins: readonly string[],
): string[] {
  const origin = trustedOrigin(avatarUrl, avatarOrigins);
  return origin === null ? [] : [origin];
}

function trustedOrigin(avatarUrl: string | null, avatarOrigins: readonly string[]): string | null {
  if (avatarUrl === null || !URL.canParse(avatarUrl)) return null;
  const { origin } = new URL(avatarUrl);
  return avatarOrigins.includes(origin) ? origin : null;
}

/** An eye and a pencil, hidden from screen readers. */
const ACCESS_ICONS = {
  read: html`<path d="M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5Z" /><circle cx="10" cy="10" r="2" />`,
  write: html`<path d="m4 16 .8-3.2 8.7-8.7 2.4 2.4-8.7 8.7ZM11.5 6.1l2.4 2.4" />`,
} as const;

export function scopeText(translator: Translator, { text, access }: ShownScope): Html {
  if (access === null) return html`<span>${text}</span>`;
  return html`<svg class="mark ${access}" viewBox="0 0 20 20" aria-hidden="true">${ACCESS_ICONS[access]}</svg
    ><span>${text} <small>${translator.text(`scope.${access}`)}</small></span>`;
}

const graphemes = new Intl.Segmenter();

/** Returns the first grapheme, which may have several code points. */
function initial(name: string): string {
  const [first] = graphemes.segment(name.trim());
  return first?.segment.toUpperCase() ?? '';
}

export interface FlashMessage {
  readonly id: Extract<MessageId, `flash.${string}`>;
  readonly values?: Readonly<Record<string, string | number>>;
}

/** Takes the focus, because screen readers do not announce a status that the page contains from the start. */
export function flashBox(translator: Translator, { id, values }: FlashMessage): Html {
  return html`<p role="status" tabindex="-1" autofocus>${translator.rich(id, values)}</p>`;
}

/**
 * Page after a form, in place of a redirect. Delays the button to a web application, because a second click while the
 * application exchanges the code would send the code twice, and the second exchange revokes the tokens.
 * @param application null for a page of this service or of a login provider
 */
export function continuationPage(translator: Translator, url: string, application: string | null) {
  const values = { client: application ?? '' };
  const id = application === null ? 'error.button.continue' : 'continuation.title';
  const isDelayed = application !== null && destinationOf(url).kind === 'site';
  return {
    translator,
    title: translator.text(id, values),
    continuesAt: url,
    content: html`
      <h1>${translator.rich(id, values)}</h1>
      ${application !== null && html`<p>${destination(translator, url)}</p>`}
      <div ${isDelayed && html`class="late"`}>
        <p>${translator.text('continuation.hint')}</p>
        <a class="button wide" href="${unchanged(url)}">${translator.text(id, values)}</a>
      </div>
    `,
  };
}
