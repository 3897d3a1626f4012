/**
 * Error codes of RFC 6749 4.1.2.1 and 5.2, RFC 6750 3.1, RFC 8628 3.5, RFC 8707 2, RFC 9449 5 and 8, OpenID Connect
 * Core 3.1.2.6 and 6, and the HTTP errors of this service.
 */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'temporarily_unavailable'
  | 'server_error'
  | 'not_found'
  | 'method_not_allowed';
