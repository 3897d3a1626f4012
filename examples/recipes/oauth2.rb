# The gem does not generate or compare `state`, and does not support PKCE. The default of `auth_scheme` differs between
# versions.
require 'digest'
require 'oauth2'
require 'securerandom'
require 'uri'

CLIENT = OAuth2::Client.new(
  ENV['CLIENT_ID'],
  ENV['CLIENT_SECRET'],
  site: ENV['ISSUER'],
  authorize_url: ENV['AUTHORIZATION_URL'],
  token_url: ENV['TOKEN_URL'],
  redirect_uri: ENV['REDIRECT_URI'],
  auth_scheme: :basic_auth
)

def start
  state = SecureRandom.urlsafe_base64(24)
  verifier = SecureRandom.urlsafe_base64(32)
  url = CLIENT.auth_code.authorize_url(
    scope: 'profile:read bookings:read',
    state: state,
    code_challenge: [Digest::SHA256.digest(verifier)].pack('m0').tr('+/', '-_').delete('='),
    code_challenge_method: 'S256'
  )
  [url, { 'state' => state, 'verifier' => verifier }]
end

def finish(callback, session)
  answer = URI.decode_www_form(URI(callback).query).to_h
  expected = [session['state'], ENV['ISSUER']]
  raise 'not the answer to our request' unless answer.values_at('state', 'iss') == expected
  raise answer['error'] if answer['error']

  CLIENT.auth_code.get_token(answer['code'], code_verifier: session['verifier']).to_hash
end

# The keys of to_hash are symbols in new versions, and strings in JSON.
def stored(tokens)
  OAuth2::AccessToken.from_hash(CLIENT, tokens.dup)
end

def refresh(tokens)
  stored(tokens).refresh!.to_hash
end

def profile(tokens)
  stored(tokens).get("#{ENV['API_URL']}/v2/me").parsed['data']
end

def disconnect(tokens)
  body = { token: stored(tokens).refresh_token, client_id: CLIENT.id, client_secret: CLIENT.secret }
  CLIENT.request(:post, "#{ENV['ISSUER']}/api/auth/oauth/revoke", body: body)
  nil
end

def ended(error)
  error.is_a?(OAuth2::Error) && error.code == 'invalid_grant'
end
