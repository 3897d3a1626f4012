import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Client } from '#database/client/client.js';
import type { User } from '#database/user/user.js';
import { html, type Html } from './html.js';

/**
 * What an application looks like: its logo, served by us so that no third party sees the user, else the first letter of
 * its name. Its name stands beside it, so that both say nothing to a screen reader.
 */
export function clientFace({ name, logo }: Pick<Client, 'name' | 'logo'>): Html {
  return logo === null
    ? html`<span class="face" aria-hidden="true">${initial(name)}</span>`
    : html`<img class="face" src="${ENDPOINTS.logos}/${logo}" alt="" width="48" height="48" />`;
}

/**
 * What a user looks like: the picture where it comes from one of the origins that the operator trusts with who is
 * here, else the first letter of the name. The page names the origin in its policy, by `pictureOrigins`.
 */
export function personFace(
  { name, avatarUrl }: Pick<User, 'name' | 'avatarUrl'>,
  avatarOrigins: readonly string[],
): Html {
  return trustedOrigin(avatarUrl, avatarOrigins) === null
    ? html`<span class="face person" aria-hidden="true">${initial(name)}</span>`
    : html`<img class="face person" src="${avatarUrl}" alt="" width="40" height="40" />`;
}

/** Where a page that shows the user gets a picture from besides this site. */
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
  return first?.segment.toLocaleUpperCase('und') ?? '';
}
