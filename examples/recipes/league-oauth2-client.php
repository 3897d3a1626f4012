<?php

// Not tested, because Debian does not package the library. It generates a `state`, which you compare, and uses PKCE only
// with `pkceMethod`. By default it separates scopes by commas, which this service accepts as well.

use League\OAuth2\Client\Provider\Exception\IdentityProviderException;
use League\OAuth2\Client\Provider\GenericProvider;
use League\OAuth2\Client\Token\AccessToken;

require 'vendor/autoload.php';

function client(): GenericProvider
{
    return new GenericProvider([
        'clientId' => getenv('CLIENT_ID'),
        'clientSecret' => getenv('CLIENT_SECRET'),
        'redirectUri' => getenv('REDIRECT_URI'),
        'urlAuthorize' => getenv('AUTHORIZATION_URL'),
        'urlAccessToken' => getenv('TOKEN_URL'),
        'urlResourceOwnerDetails' => getenv('API_URL') . '/v2/me',
        'scopes' => ['profile:read', 'bookings:read'],
        'scopeSeparator' => ' ',
        'pkceMethod' => 'S256',
    ]);
}

function start(): array
{
    $client = client();
    $url = $client->getAuthorizationUrl();
    return [$url, ['state' => $client->getState(), 'verifier' => $client->getPkceCode()]];
}

function finish(string $callback, array $session): array
{
    parse_str(parse_url($callback, PHP_URL_QUERY), $answer);
    if (!hash_equals($session['state'], $answer['state'] ?? '') || ($answer['iss'] ?? '') !== getenv('ISSUER')) {
        throw new RuntimeException('not the answer to our request');
    }
    if (isset($answer['error'])) {
        throw new RuntimeException($answer['error']);
    }
    $client = client();
    $client->setPkceCode($session['verifier']);
    return $client->getAccessToken('authorization_code', ['code' => $answer['code']])->jsonSerialize();
}

function refresh(array $tokens): array
{
    $old = ['refresh_token' => $tokens['refresh_token']];
    return client()->getAccessToken('refresh_token', $old)->jsonSerialize();
}

function profile(array $tokens): array
{
    return client()->getResourceOwner(new AccessToken($tokens))->toArray()['data'];
}

function disconnect(array $tokens): void
{
    client()->getHttpClient()->request('POST', getenv('ISSUER') . '/api/auth/oauth/revoke', ['form_params' => [
        'token' => $tokens['refresh_token'],
        'client_id' => getenv('CLIENT_ID'),
        'client_secret' => getenv('CLIENT_SECRET'),
    ]]);
}

function ended(Throwable $error): bool
{
    return $error instanceof IdentityProviderException && $error->getResponseBody()['error'] === 'invalid_grant';
}
