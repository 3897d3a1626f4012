import type { Locale } from '#oauth/locale.js';

export const BRAND_MESSAGES = {
  'brand.product': {
    en: 'Back to {product}',
    de: 'Zurück zu {product}',
    fr: 'Retour à {product}',
    es: 'Volver a {product}',
    pt: 'Voltar a {product}',
    ja: '{product} に戻る',
    ar: 'العودة إلى {product}',
  },
  'brand.privacy': {
    en: 'Privacy',
    de: 'Datenschutz',
    fr: 'Confidentialité',
    es: 'Privacidad',
    pt: 'Privacidade',
    ja: 'プライバシー',
    ar: 'الخصوصية',
  },
  'brand.terms': {
    en: 'Terms',
    de: 'Nutzungsbedingungen',
    fr: 'Conditions d’utilisation',
    es: 'Condiciones',
    pt: 'Termos',
    ja: '利用規約',
    ar: 'الشروط',
  },
  'brand.help': {
    en: 'Help',
    de: 'Hilfe',
    fr: 'Aide',
    es: 'Ayuda',
    pt: 'Ajuda',
    ja: 'ヘルプ',
    ar: 'المساعدة',
  },
} as const satisfies Record<string, Readonly<Record<Locale, string>>>;
