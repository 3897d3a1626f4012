import { readFileSync } from 'node:fs';

/** Pages of users, pages of owners, causes of refused requests, and mails. */
const FOLDERS = [
  'apps/authorize/src/ui/i18n',
  'apps/developers/src/ui/i18n',
  'apps/developers/src/ui/i18n/causes',
  'apps/token/src/mail/i18n',
];

/** Synonyms of the word that the texts use for an application, owner, tester, operator, receiver or HTTP request. */
const SYNONYMS: readonly (readonly [locale: string, words: RegExp])[] = [
  ['de', /Aufruf|Eigentümer/],
  ['es', /: ".*\btesters?\b/],
  ['pt', /aplicativo|: ".*(revisor|tokens de logout)/i],
  ['ja', /運用者|受信側/],
  ['ar', /مستقبل/],
];

/** Word for the request of a registration, which is not the word for an HTTP request. */
const REGISTRATION: readonly (readonly [locale: string, words: RegExp])[] = [
  ['de', /Antrag|Anträge/],
  ['es', /solicitud/i],
  ['fr', /\bdemandes?\b/i],
  ['pt', /\bpedidos?\b/i],
  ['ja', /申請/],
];

/** Words of another form of address (Spanish: usted), or of another country (Portuguese: Portugal). */
const OTHER_VARIANTS: readonly (readonly [locale: string, words: RegExp])[] = [
  [
    'es',
    /(?<!\p{L})(?:tus?|tú|te|ti|contigo|has|hayas|eres|puedes|podrás|inténtalo|registres|crees)(?!\p{L})/iu,
  ],
  ['pt', /você|usuári|registr|solicitaç|arquivo|senha|gerenci|salvar|excluir|contato/i],
];

/** In French, a space before one of these signs, or after an opening quotation mark, does not break the line. */
const BREAKING_SPACE = /« | [:;?!»]/;

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n');

/** Returns a line without its key. */
const textOf = (line: string): string => line.replace(/^\s*(?:"[^"]+"|\w+): /, '');

it.each(SYNONYMS)('the texts in %s have one word for each central term', (locale, words) => {
  const lines = FOLDERS.flatMap((folder) => linesOf(`${folder}/${locale}.json`));
  expect(lines.filter((line) => words.test(line))).toEqual([]);
});

it.each(REGISTRATION)('the texts in %s distinguish registrations and HTTP requests', (locale, words) => {
  const causes = linesOf(`apps/developers/src/ui/i18n/causes/${locale}.json`);
  const others = [
    ...linesOf(`apps/developers/src/ui/i18n/${locale}.json`),
    ...linesOf(`apps/token/src/mail/i18n/${locale}.json`),
  ];
  const aboutHttp = others.filter((line) =>
    /"(error\.4\d\d|secrets\.revoke_text|keys\.remove_text|secret_expired\.text|(activity|refused|try)\.\w+)"/.test(
      line,
    ),
  );
  const aboutRegistrations = others.filter((line) =>
    /"(request\.(title|kind|withdraw)|app\.requests|(approved|rejected)\.subject)"/.test(line),
  );
  expect([...causes, ...aboutHttp].filter((line) => words.test(line))).toEqual([]);
  expect(aboutRegistrations.filter((line) => !words.test(line))).toEqual([]);
});

it.each(OTHER_VARIANTS)('the texts in %s have one form of address and one spelling', (locale, words) => {
  const scopes = [...linesOf('scopes.yaml'), ...linesOf('libs/oauth/src/openid/openid-scopes.ts')];
  const lines = [
    ...FOLDERS.flatMap((folder) => linesOf(`${folder}/${locale}.json`)),
    ...scopes.filter((line) => line.trimStart().startsWith(`${locale}: `)),
  ];
  expect(lines.map(textOf).filter((text) => words.test(text))).toEqual([]);
});

it('the texts in French have no line break before a colon or question mark', () => {
  const lines = FOLDERS.flatMap((folder) => linesOf(`${folder}/fr.json`));
  expect(lines.map(textOf).filter((text) => BREAKING_SPACE.test(text))).toEqual([]);
});
