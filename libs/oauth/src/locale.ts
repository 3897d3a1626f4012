/** Languages of the pages (BCP 47); the first is the fallback. */
export const LOCALES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'] as const;

export type Locale = (typeof LOCALES)[number];

/**
 * Returns `ui_locales` as space-separated BCP 47 tags (OpenID Connect Core 3.1.2.1). Accepts underscores and commas,
 * which clients send in place of hyphens and spaces (known deviation).
 */
export function localeTags(uiLocales: string): string {
  return uiLocales.replaceAll('_', '-').replaceAll(/[ ,]+/g, ' ').trim();
}
