/** The languages of the pages, as BCP 47 tags; the first is the one for everybody else. */
export const LOCALES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'] as const;

export type Locale = (typeof LOCALES)[number];
