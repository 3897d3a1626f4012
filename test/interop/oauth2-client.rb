# An application and a resource server that use the gem oauth2, as its documentation shows.
#
# Writes and reads one JSON value per line. The first value that it reads contains its settings.

require 'digest'
require 'json'
require 'oauth2'
require 'securerandom'
require 'uri'

def say(facts)
  puts JSON.generate(facts)
  $stdout.flush
end

def receive
  JSON.parse($stdin.gets)
end

# Sends a request with the client authentication of get_token. The gem has no call for introspection, and only its
# newest versions have a call for revocation.
def post(client, url, params)
  form = OAuth2::Authenticator.new(client.id, client.secret, client.options[:auth_scheme]).apply(params)
  headers = { 'Content-Type' => 'application/x-www-form-urlencoded' }.merge(form.delete(:headers) || {})
  client.request(:post, url, body: form, headers: headers)
end

def email_of(token, api_url)
  token.get("#{api_url}/v2/me").parsed['data']['email']
end

# Returns the error code and the status of a rejected request; 'accepted' and 200 without an error.
def refused
  yield
  ['accepted', 200]
rescue OAuth2::Error => e
  [e.code, e.response.status]
end

settings = receive
scheme = { 'client_secret_basic' => :basic_auth, 'client_secret_post' => :request_body }.fetch(settings['authentication'])
application = settings['client']
client = OAuth2::Client.new(
  application['client_id'],
  application['client_secret'],
  site: settings['base_url'],
  auth_scheme: scheme,
  redirect_uri: application['redirect_uri']
)
metadata = client.request(:get, '/.well-known/oauth-authorization-server').parsed
client.options[:authorize_url] = metadata['authorization_endpoint']
client.options[:token_url] = metadata['token_endpoint']
resource_server = settings['resource_server']
api = OAuth2::Client.new(resource_server['id'], resource_server['secret'], site: settings['base_url'], auth_scheme: scheme)
introspect = ->(token) { post(api, metadata['introspection_endpoint'], 'token' => token.token).parsed }

state = SecureRandom.urlsafe_base64(16)
verifier = SecureRandom.urlsafe_base64(48)
url = client.auth_code.authorize_url(
  scope: 'profile:read',
  state: state,
  code_challenge: [Digest::SHA256.digest(verifier)].pack('m0').tr('+/', '-_').delete('='),
  code_challenge_method: 'S256'
)
say(authorization_url: url)
answer = URI.decode_www_form(URI(receive).query).to_h
raise 'another state came back' unless answer['state'] == state

redeemed = client.auth_code.get_token(answer['code'], code_verifier: verifier)
say(tokens: redeemed.to_hash, email: email_of(redeemed, settings['api_url']))

renewed = redeemed.refresh!
say(
  tokens: renewed.to_hash,
  email: email_of(renewed, settings['api_url']),
  introspection: introspect.call(renewed)
)

revocation = post(client, metadata['revocation_endpoint'], 'token' => renewed.token)
say(revocation: revocation.status, introspection: introspect.call(renewed))

receive
_, me = refused { email_of(renewed, settings['api_url']) }
refresh, = refused { renewed.refresh! }
say(me: me, refresh: refresh)
