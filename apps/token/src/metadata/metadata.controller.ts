import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ASSERTION_ALGORITHMS } from '#oauth/client-assertion/client-keys.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { PROMPTS, RESPONSE_MODES } from '#oauth/authorization-parameters.js';
import { LOCALES } from '#oauth/locale.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { DPOP_ALGORITHMS } from '#oauth/dpop/dpop-verifier.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { CLAIMS_OF_SCOPE } from '#oauth/openid/claims.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { ApiOperation } from '#openapi/operation.js';
import {
  sendDocument,
  serveDocument,
  type ServedDocument,
  serviceDescription,
} from '#openapi/serve-document.js';
import { TokenConfiguration } from '../token.configuration.js';
import { GRANT_TYPES } from '../token/token.dto.js';
import {
  type AuthorizationServerMetadata,
  JWKS_OPERATION,
  METADATA_OPERATION,
  OPENID_CONFIGURATION_OPERATION,
  type OpenIdMetadata,
} from './metadata.openapi.js';

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

@Controller()
export class MetadataController {
  private readonly keySet: ServedDocument;

  constructor(
    private readonly configuration: TokenConfiguration,
    private readonly scopes: ScopeCatalogue,
    private readonly keys: SigningKeys,
  ) {
    this.keySet = serveDocument(keys.jwks, {});
  }

  @Get(ENDPOINTS.jwks)
  @ApiOperation(JWKS_OPERATION)
  jwks(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.requireOpenId();
    sendDocument(request, reply, this.keySet);
  }

  @Get(ENDPOINTS.openIdConfiguration)
  @ApiOperation(OPENID_CONFIGURATION_OPERATION)
  openIdConfiguration(): AuthorizationServerMetadata {
    this.requireOpenId();
    return this.metadata();
  }

  @Get(ENDPOINTS.authorizationServerMetadata)
  @Header('Link', serviceDescription(ENDPOINTS.openApi))
  @ApiOperation(METADATA_OPERATION)
  metadata(): AuthorizationServerMetadata {
    const { AUTH_URL, BASE_URL, CONSOLE_URL, REQUIRE_PAR } = this.configuration;
    return {
      issuer: BASE_URL,
      authorization_endpoint: AUTH_URL + ENDPOINTS.authorize,
      token_endpoint: BASE_URL + ENDPOINTS.token,
      revocation_endpoint: BASE_URL + ENDPOINTS.revoke,
      introspection_endpoint: BASE_URL + ENDPOINTS.introspect,
      pushed_authorization_request_endpoint: BASE_URL + ENDPOINTS.par,
      device_authorization_endpoint: BASE_URL + ENDPOINTS.deviceAuthorization,
      require_pushed_authorization_requests: REQUIRE_PAR === 'true',
      response_types_supported: ['code'],
      response_modes_supported: RESPONSE_MODES,
      grant_types_supported: GRANT_TYPES.filter(
        (type) => type !== 'client_credentials' || CONSOLE_URL !== '',
      ),
      token_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION, 'none'],
      // RFC 8414 2: required with private_key_jwt.
      token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
      revocation_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION, 'none'],
      revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
      introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
      scopes_supported: this.scopes.names,
      ui_locales_supported: LOCALES,
      prompt_values_supported: PROMPTS,
      dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      ...(!this.keys.isEmpty && this.openIdMetadata()),
    };
  }

  /** @throws OAuthError not_found without ID_TOKEN_KEYS */
  private requireOpenId(): void {
    if (this.keys.isEmpty) throw new OAuthError('not_found', 404, 'not_found.openid_provider');
  }

  /** Returns the members that only an OpenID provider publishes (OpenID Connect Discovery 3). */
  private openIdMetadata(): Pick<OpenIdMetadata, keyof OpenIdMetadata> {
    const { AUTH_URL, BASE_URL, API_URL } = this.configuration;
    return {
      jwks_uri: BASE_URL + ENDPOINTS.jwks,
      end_session_endpoint: AUTH_URL + ENDPOINTS.logout,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      ...(API_URL !== '' && { userinfo_endpoint: API_URL + ENDPOINTS.userInfo }),
      subject_types_supported: ['public', 'pairwise'],
      id_token_signing_alg_values_supported: this.keys.algorithms,
      claims_supported: ['sub', 'auth_time', ...Object.values(CLAIMS_OF_SCOPE).flat()],
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    };
  }
}
