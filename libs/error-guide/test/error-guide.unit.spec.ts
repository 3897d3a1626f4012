import { readdirSync, readFileSync } from 'node:fs';
import { type Check, ERROR_GUIDE, errorUri, guideEntry, SECTIONS } from '#error-guide/error-guide.js';
import { redirectUriText } from '#error-guide/protocol-texts.js';
import type { RedirectUriProblem } from '#oauth/redirect-uri.js';
import { OVERLOAD_CHECK } from '#platform/http/overload.js';

const BASE_URL = 'https://base.example.com';

/** Matches names of checks in errors, log lines and refusals. The guide omits checks of operator commands. */
const NAMED = /\bcheck: '([\w.-]+)'/g;

function checksIn(file: string): [check: string, file: string][] {
  return [...readFileSync(file, 'utf8').matchAll(NAMED)].map(([, check = '']) => [check, file]);
}

const anchors = ERROR_GUIDE.flatMap(({ entries }) => entries.map(({ anchor }) => anchor));

describe('the error guide', () => {
  it('explains every check that the source names', () => {
    const named = ['apps', 'libs'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) =>
          /^(?!operator\b|operations\b|diagnosis\b)[\w-]+\/src\/(?!operations\/).*\.ts$/.test(file),
        )
        .flatMap((file) => checksIn(`${folder}/${file}`)),
    );
    expect(named.length).toBeGreaterThan(30);
    named.push([OVERLOAD_CHECK, 'overload.ts']);
    expect(named.filter(([check]) => guideEntry(check, undefined) === null)).toEqual([]);
  });

  it('contains a meaning and a remedy for each error', () => {
    const entries = ERROR_GUIDE.flatMap((section) => section.entries);
    expect(entries.filter(({ meaning, remedies }) => meaning === '' || remedies.length === 0)).toEqual([]);
  });

  it('does not contain commands inside sentences, because operators paste whole lines', () => {
    const entries = ERROR_GUIDE.flatMap((section) => section.entries);
    const actions = entries.flatMap(({ remedies }) => remedies.map(([, action]) => action));
    expect(actions.filter((action) => action.includes('`operator '))).toEqual([]);
  });

  it('lists each check once', () => {
    const names = Object.values(SECTIONS).flatMap((entries) => Object.keys(entries));
    expect(new Set(names).size).toBe(names.length);
  });

  it('uses unique anchors that need no encoding', () => {
    expect(new Set(anchors).size).toBe(anchors.length);
    expect(anchors.filter((anchor) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(anchor))).toEqual([]);
  });

  it('does not publish an entry that has `publishedAs`', () => {
    for (const check of ['client_unknown', 'client_secret_mismatch', 'user_unknown', 'password_mismatch'])
      expect(anchors).not.toContain(check);
  });
});

describe('error_uri (RFC 6749 5.2)', () => {
  it.each<[Check | undefined, Parameters<typeof errorUri>[2], string]>([
    ['redirect_uri_mismatch', 'invalid_grant', 'redirect_uri_mismatch'],
    ['dpop_htu_mismatch', 'invalid_dpop_proof', 'dpop_htu_mismatch'],
    [undefined, 'server_error', 'server_error'],
    ['prompt_invalid', 'invalid_request', 'prompt_invalid'],
    ['login_impossible', 'login_required', 'login_required'],
    ['login_too_old', 'login_required', 'login_required'],
    ['consent_impossible', 'consent_required', 'consent_required'],
    ['consent_denied', 'access_denied', 'access_denied'],
  ])(
    'links to the entry of the check, or else of the error: check %s, error %s, #%s',
    (check, error, anchor) => {
      expect(errorUri(BASE_URL, check, error)).toBe(`${BASE_URL}/api/auth/oauth/errors#${anchor}`);
      expect(anchors).toContain(anchor);
    },
  );

  it('does not distinguish an unknown client from a wrong secret', () => {
    const [unknown, wrong] = (['client_unknown', 'client_secret_mismatch'] as const).map((check) =>
      errorUri(BASE_URL, check, 'invalid_client'),
    );
    expect(unknown).toBe(wrong);
    expect(anchors).toContain(unknown?.split('#')[1]);
  });

  it('links to the error code for an unknown check', () => {
    expect(errorUri(BASE_URL, 'made up', 'invalid_request')).toMatch(/#invalid_request$/);
  });
});

describe('the text about a redirect URI', () => {
  it.each<[RedirectUriProblem, string, RegExp]>([
    ['fragment', 'https://app.example.com/#', /^has a fragment: remove the #/],
    ['rewritten', 'https://App.example.com:443/a', /: write https:\/\/app\.example\.com\/a$/],
    ['unknown_scheme', 'zed://callback', /^has the scheme zed: use https/],
    ['no_path', 'com.example.app:callback', /: write it like com\.example\.app:\/callback$/],
  ])('says what to change: %s', (problem, uri, text) => {
    expect(redirectUriText(problem, uri)).toMatch(text);
  });
});
