import type { ClientType } from '#oauth/oauth-client.js';
import { needsAdmission } from '#oauth/redirect-uri.js';
import { quoted } from '#oauth/text.js';

/** Returns warnings about redirect URIs that are valid, and less secure than others. */
export function redirectUriHints(uris: readonly string[], type: ClientType): string[] {
  return uris.flatMap((uri) => {
    if (type === 'public' && /^http:\/\/localhost(?:[:/?]|$)/.test(uri))
      return [
        `${quoted(uri)} matches any port. Use 127.0.0.1 or [::1] instead of localhost if the application can: each device resolves localhost itself (RFC 8252 8.3)`,
      ];
    return needsAdmission(uri)
      ? [
          `${quoted(uri)}: any program on a user’s device can register this scheme, and then receives the user’s codes. A program that has also started the request can redeem them. Users are asked for consent every time (RFC 8252 8.6)`,
        ]
      : [];
  });
}
