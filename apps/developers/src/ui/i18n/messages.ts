import { catalogues } from '#ui/i18n.js';
import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };

export const MESSAGES = catalogues({ en, de, fr, es, pt, ja, ar });

export type MessageId = keyof typeof en;
