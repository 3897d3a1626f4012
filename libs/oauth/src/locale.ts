/** Languages of the pages (BCP 47); the first is the fallback. */
export const LOCALES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'] as const;

export type Locale = (typeof LOCALES)[number];
