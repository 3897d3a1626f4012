import { SECTIONS } from '#error-guide/error-guide.js';
import { guideEntryOf, type WrittenEntry } from '#error-guide/guide-entry.js';
import { LOCALES } from '#oauth/locale.js';
import { CAUSES } from '../../src/ui/causes.js';

const GUIDE = new Map<string, WrittenEntry>(
  Object.values(SECTIONS).flatMap((entries) => Object.entries<WrittenEntry>(entries)),
);

/** Causes that the application can mend, as owners see them. */
const MENDABLE = [...GUIDE].filter(([, { application }]) => application !== undefined).map(([name]) => name);

/** Title, meaning and actions, as in the files of the languages. */
function englishOf(name: string): string[] {
  const entry = GUIDE.get(name);
  if (!entry) throw new Error(`the error guide has no entry ${name}`);
  const { title, meaning, remedies } = guideEntryOf(name, entry);
  return [
    title,
    meaning,
    ...remedies.flatMap(([party, action]) => (party === 'application' ? [action] : [])),
  ];
}

const codesIn = (texts: readonly string[] = []): string[] =>
  texts.map((text) =>
    [...text.matchAll(/`[^`]+`/g)]
      .map(([code]) => code)
      .sort()
      .join(' '),
  );

/** Rare causes, which owners read in English. */
const UNTRANSLATED = `
  access_denied access_token_inactive access_token_repeated address_malformed authorization_header_malformed
  authorization_pending basic_credentials_malformed body_malformed body_too_large claims_invalid
  client_assertion_alg_unsupported client_assertion_audience_mismatch client_assertion_expired
  client_assertion_issuer_mismatch client_assertion_jti_invalid client_assertion_key_mismatch
  client_assertion_key_unknown client_assertion_lifetime_exceeded client_assertion_limit_exceeded
  client_assertion_malformed client_assertion_missing client_assertion_not_yet_valid client_assertion_replayed
  client_assertion_signature_mismatch client_assertion_type_unsupported client_assertion_unexpected
  client_credentials_mismatch client_disabled client_document_refused client_document_unavailable
  client_id_mismatch client_id_unregistered client_keys_unavailable client_secret_forbidden
  client_secret_unexpected client_unknown code_verifier_malformed condition_unsupported consent_impossible
  consent_required content_encoding_unsupported content_type_unsupported decision_denied decision_pending
  device_limit_exceeded dpop_alg_unsupported dpop_ath_mismatch dpop_claim_missing dpop_header_invalid
  dpop_htm_mismatch dpop_htu_mismatch dpop_iat_out_of_range dpop_jkt_invalid dpop_jti_invalid dpop_jwk_invalid
  dpop_nonce_expired dpop_nonce_missing dpop_nonce_unknown dpop_proof_malformed dpop_proof_missing
  dpop_proof_replayed dpop_proof_too_long dpop_signature_mismatch dpop_typ_mismatch event_delayed
  event_limit_exceeded event_loop_delayed event_loop_stalled event_poll_malformed event_refused
  event_scope_insufficient event_stream_exists event_stream_paused event_stream_unknown event_stream_unnamed
  event_subject_invalid event_subjects_exceeded event_token_inactive event_token_missing expired_token
  grant_type_unregistered host_header_invalid id_token_hint_invalid idempotency_key_reused
  idempotent_request_running idempotent_result_unknown if_match_missing if_match_too_long insufficient_scope
  invalid_client invalid_dpop_proof invalid_grant invalid_request invalid_scope invalid_target invalid_token
  issued_before_failover key_mismatch key_unexpected login_impossible login_required login_too_old
  logout_token_delayed logout_token_refused logout_tokens_paused max_age_invalid media_type_unsupported
  method_not_allowed not_acceptable not_found origin_mismatch other_user_logged_in polled_too_early
  post_logout_redirect_uri_unregistered prompt_invalid proof_limit_exceeded push_limit_exceeded push_required
  rate_limited refresh_token_repeated reports_running request_not_supported request_object_unsupported
  request_unconfirmed request_uri_invalid request_uri_not_supported request_uri_unsupported resource_exceeded
  resource_server_credentials_mismatch resource_unknown response_mode_unsupported response_type_missing
  response_type_unsupported scope_malformed scope_not_granted sec_fetch_site_mismatch server_error slow_down
  temporarily_unavailable token_without_user unknown unsupported_grant_type unsupported_response_type
  use_dpop_nonce user_code_unknown verifier_unexpected
`
  .trim()
  .split(/\s+/);

describe.each(LOCALES.filter((locale) => locale !== 'en'))('the causes in %s', (locale) => {
  const causes = CAUSES[locale] ?? {};

  it('have the texts of the English entry, with the same code', () => {
    for (const [name, texts] of Object.entries(causes))
      expect([name, codesIn(texts)]).toEqual([name, codesIn(englishOf(name))]);
  });

  it('are the causes of every other language', () => {
    expect(Object.keys(causes)).toEqual(Object.keys(CAUSES.de ?? {}));
  });
});

it('lists the causes without a translation, which are shown in English', () => {
  const translated = CAUSES.de ?? {};
  expect(Object.keys(translated).filter((name) => !MENDABLE.includes(name))).toEqual([]);
  expect(MENDABLE.filter((name) => !(name in translated)).sort()).toEqual(UNTRANSLATED);
});
