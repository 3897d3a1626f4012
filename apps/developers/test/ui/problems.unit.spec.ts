import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCALES } from '#oauth/locale.js';
import { problem, type Problems } from '#platform/validation/problem.js';
import { Translator } from '../../src/ui/i18n/translator.js';
import { MESSAGES } from '../../src/ui/i18n/messages.js';

/** Sources of the classes that check what the forms of the portal send, and of the stores that execute it. */
const SOURCES = [
  'libs/platform/src/validation',
  'libs/clients/src/owners',
  'libs/clients/src/registration',
  'libs/clients/src/requests',
  'libs/clients/src/operations/owners',
  'libs/clients/src/operations/requests',
  'libs/clients/src/client-secret.store.ts',
  'libs/clients/src/operations/client-secret.service.ts',
  'libs/clients/src/operations/new-client.ts',
  'libs/clients/src/operations/registration-changes.ts',
];

/** Problems of fields that only operators set, and of resources that do not exist, which have the text of their status. */
const WITHOUT_TEXT = new Set([
  'algorithm_invalid',
  'backchannel_logout_uri_invalid',
  'client_without_owners',
  'console_url_missing',
  'described_by_document',
  'grant_type_invalid',
  'key_missing',
  'keys_at_jwks_uri',
  'last_live_secret',
  'member_unknown',
  'metadata_document_invalid',
  'not_registered',
  'optional_scope_invalid',
  'private_scheme_confidential',
  'private_scheme_invalid',
  'public_client_with_keys',
  'registered_already',
  'request_unknown',
  'rotation_invalid',
  'scope_not_offered',
  'secret_unknown',
  'sector_missing',
  // No form of the portal can send these.
  'fields_exclude_each_other',
  'type',
  'unknown_field',
  'word_unknown',
]);

/** A problem has one text, or one for each of its reasons. */
const hasText = (id: string) =>
  Object.keys(MESSAGES.en).some((message) => `${message}.`.startsWith(`problem.${id}.`));

function problemIds(): string[] {
  const files = SOURCES.flatMap((path) =>
    path.endsWith('.ts') ? [path] : readdirSync(path).map((name) => join(path, name)),
  );
  const ids = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:problem|reports|refuse)\(\s*'(\w+)'/g)].map(
      ([, id = '']) => id,
    ),
  );
  return [...new Set(ids)].sort();
}

const REDIRECT_URI_REASONS: Readonly<Record<Problems['redirect_uri_invalid']['reason'], true>> = {
  too_long: true,
  characters: true,
  percent: true,
  wildcard: true,
  relative: true,
  fragment: true,
  userinfo: true,
  unencrypted: true,
  unencrypted_fapi: true,
  private_scheme: true,
  unknown_scheme: true,
  no_path: true,
  dot_segment: true,
  rewritten: true,
  repeated: true,
  reserved: true,
};

it('every problem that a form of the portal can cause has a text', () => {
  const ids = problemIds();
  expect(ids.length).toBeGreaterThan(40);
  expect(ids.filter((id) => !WITHOUT_TEXT.has(id) && !hasText(id))).toEqual([]);
  expect([...WITHOUT_TEXT].filter((id) => !ids.includes(id) || hasText(id))).toEqual([]);
});

describe.each(LOCALES)('in %s', (locale) => {
  const translator = new Translator(locale);

  it('each reason against a redirect URI has a separate text, with the values', () => {
    const texts = Object.keys(REDIRECT_URI_REASONS).map((reason) => {
      const given = problem('redirect_uri_invalid', 'redirectUris', { given: 'com.a:b', reason } as never);
      // Without the isolates of values in text from right to left.
      return translator.problem(given).replaceAll(/[\u2066-\u2069]/g, '');
    });
    expect(new Set(texts).size).toBe(texts.length);
    for (const text of texts) expect(text).toContain('com.a:b');
    expect(texts.filter((text) => text.includes('com.a:/callback'))).toHaveLength(1);
  });

  it('another problem has a general text', () => {
    expect(translator.problem(problem('import_running', []))).toBe(translator.text('problem.other'));
  });
});
