import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Client } from '#database/client/client.js';
import type { User } from '#database/user/user.js';
import { html, type Html } from './html.js';
import type { MessageId, Translator } from './i18n/translator.js';

/**
 * An application's logo, else the first letter of its name. This service serves the logo, so that no third party sees the
 * user. The name stands beside it, so screen readers skip it.
 */
export function clientAvatar({ name, logo }: Pick<Client, 'name' | 'logo'>): Html {
  return logo === null
    ? html`<span class="face" aria-hidden="true">${initial(name)}</span>`
    : html`<img class="face" src="${ENDPOINTS.logos}/${logo}" alt="" width="48" height="48" />`;
}

/**
 * A user's picture, else the first letter of the name. The picture must come from an origin that the operator trusts,
 * because that site learns who is here. The page allows the origin in its policy, by `pictureOrigins`.
 */
export function userAvatar(
  { name, avatarUrl }: Pick<User, 'name' | 'avatarUrl'>,
  avatarOrigins: readonly string[],
): Html {
  return trustedOrigin(avatarUrl, avatarOrigins) === null
    ? html`<span class="face person" aria-hidden="true">${initial(name)}</span>`
    : html`<img class="face person" src="${avatarUrl}" alt="" width="40" height="40" />`;
}

/** The origin of the user's picture, for the Content-Security-Policy. */
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

const graphemes = new Intl.Segmenter();

/** The first letter as a reader sees it, which may be several code points. */
function initial(name: string): string {
  const [first] = graphemes.segment(name.trim());
  return first?.segment.toUpperCase() ?? '';
}

/** What a form has done, for the page that follows. */
export interface FlashMessage {
  readonly id: Extract<MessageId, `flash.${string}`>;
  readonly values?: Readonly<Record<string, string | number>>;
}

/** Takes the focus, because screen readers do not announce a status that the page contains from the start. */
export function flashBox(translator: Translator, { id, values }: FlashMessage): Html {
  return html`<p role="status" tabindex="-1" autofocus>${translator.rich(id, values)}</p>`;
}
