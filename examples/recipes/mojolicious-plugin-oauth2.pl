# The plugin sends the `state` that you generate and does not compare it. It has no PKCE, which is optional for clients
# with a secret, and sends the secret in the body.
use Mojolicious::Lite -signatures;

app->secrets([$ENV{SESSION_SECRET}]);

plugin OAuth2 => {
  providers => {
    scheduling => {
      key           => $ENV{CLIENT_ID},
      secret        => $ENV{CLIENT_SECRET},
      authorize_url => $ENV{AUTHORIZATION_URL},
      token_url     => $ENV{TOKEN_URL},
    },
  },
};

sub random_state {
  open my $random, '<:raw', '/dev/urandom' or die $!;
  read $random, my $bytes, 24 or die $!;
  return unpack 'H*', $bytes;
}

get '/connect' => sub ($c) {
  my $state   = $c->session->{state} = random_state();
  my %request = (redirect_uri => $ENV{REDIRECT_URI}, scope => 'profile:read bookings:read', state => $state);
  $c->redirect_to($c->oauth2->auth_url(scheduling => \%request));
};

get '/callback' => sub ($c) {
  my $state = delete $c->session->{state} // '';
  my $refuse = sub { $c->render(text => 'Not connected', status => 400) };
  return $refuse->() if $state eq '' || $state ne ($c->param('state') // '') || $ENV{ISSUER} ne ($c->param('iss') // '');
  $c->render_later;
  $c->oauth2->get_token_p(scheduling => {redirect_uri => $ENV{REDIRECT_URI}, redirect => 0})->then(sub ($tokens) {
    return $refuse->() unless $tokens;
    # Store both tokens, encrypted, with the user of your application.
    $c->render(text => "Connected with $tokens->{scope}");
  })->catch($refuse);
};

app->start('daemon', '-l', "http://127.0.0.1:$ENV{PORT}");
