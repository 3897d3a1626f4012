import { fileURLToPath } from 'node:url';

const file = (name: string) => fileURLToPath(new URL(`brand/${name}`, import.meta.url));

/** Example of a configured brand, shown in `docs/look.md`. */
export const SECOND_BRAND = {
  PRODUCT_NAME: 'Quillmark',
  LOGO_FILE: file('logo.svg'),
  LOGO_DARK_FILE: file('logo-dark.svg'),
  ACCENT_COLOR: '#7a1f5c',
  PRODUCT_URL: 'https://quillmark.example/',
  PRIVACY_URL: 'https://quillmark.example/privacy',
  TERMS_URL: 'https://quillmark.example/terms',
  HELP_URL: 'https://quillmark.example/help',
} as const;
