import type { Locale } from '#oauth/locale.js';
import { guideText } from '#pages/components.js';
import type { Fragment } from '#ui/html.js';
import ar from './i18n/causes/ar.json' with { type: 'json' };
import de from './i18n/causes/de.json' with { type: 'json' };
import es from './i18n/causes/es.json' with { type: 'json' };
import fr from './i18n/causes/fr.json' with { type: 'json' };
import ja from './i18n/causes/ja.json' with { type: 'json' };
import pt from './i18n/causes/pt.json' with { type: 'json' };
import type { Translator } from './i18n/translator.js';
import { inEnglish } from './parts.js';

/**
 * Translations of the error guide by check, for the most frequent causes that an owner can fix: the title, the meaning,
 * and the actions of the application.
 */
export const CAUSES: Readonly<Partial<Record<Locale, Readonly<Record<string, readonly string[]>>>>> = {
  de,
  fr,
  es,
  pt,
  ja,
  ar,
};

interface Cause<Text> {
  readonly title: Text;
  readonly meaning: Text;
  /** Remedies of the application. */
  readonly actions: readonly Text[];
}

/** Returns the explanation of a check in the language of the page, or marked as English. */
export function translatedCause(
  translator: Translator,
  check: string | undefined,
  english: Cause<string>,
): Cause<Fragment> {
  const translated = CAUSES[translator.locale]?.[check ?? ''];
  if (!translated) {
    const shown = (text: string) => inEnglish(translator, guideText(text));
    const { title, meaning, actions } = english;
    return { title: shown(title), meaning: meaning !== '' && shown(meaning), actions: actions.map(shown) };
  }
  const [title, meaning, ...actions] = translated.map(guideText);
  return { title, meaning, actions };
}
