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
  ['pt', /solicitaç/i],
  ['ja', /申請/],
];

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n');

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
