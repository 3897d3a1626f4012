/** Longest accepted values of the authorization request's parameters, in characters. */
export const LIMITS = {
  client_id: 255,
  redirect_uri: 2_000,
  response_type: 100,
  response_mode: 100,
  state: 1_024,
  scope: 1_000,
  code_challenge: 128,
  code_challenge_method: 100,
  dpop_jkt: 128,
  prompt: 100,
  login_hint: 254,
  ui_locales: 200,
} as const;
