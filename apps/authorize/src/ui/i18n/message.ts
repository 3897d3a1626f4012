import type { Locale } from '#oauth/locale.js';

/** One message in every language, in ICU MessageFormat. `<b>` marks what matters, `<a>` a link. */
export type Message = Readonly<Record<Locale, string>>;
