import type { ClientWithSecrets } from '#clients/client.js';

/** Returns a client in the form in which stores return it. */
export function registeredClient(values: Partial<ClientWithSecrets> = {}): ClientWithSecrets {
  return {
    clientId: 'sc_abcdefghijklmnopqrstuvwx',
    name: 'Calendar Connect',
    type: 'confidential',
    redirectUris: ['https://a.example/cb'],
    scopes: ['profile:read'],
    optionalScopes: [],
    requirePar: false,
    privateSchemes: [],
    requireState: true,
    firstParty: false,
    idTokenAlg: null,
    sector: null,
    subjectKey: null,
    postLogoutRedirectUris: [],
    backchannelLogoutUri: null,
    document: null,
    clientUri: null,
    policyUri: null,
    contacts: [],
    jwks: null,
    jwksUri: null,
    grantType: 'authorization_code',
    deviceGrant: false,
    dpopBound: false,
    keepsRefreshToken: false,
    profile: null,
    disabledAt: null,
    logo: null,
    secrets: [],
    version: 1,
    createdAt: new Date(0),
    ...values,
  };
}
