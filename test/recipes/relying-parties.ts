import type { Response } from 'supertest';
import type { Browser } from '../support/browser.js';
import { type FoundLibrary, PACKAGES } from '../support/foreign-library.js';
import { JAVAC, javaArguments } from './client-recipes.js';
import type { BrowserApplication } from './browser-application.js';
import type { ListeningRecipe } from './web-recipe.js';

/** A web application of examples/relying-parties that shows `sub` and the email address after the login. */
export interface RelyingParty extends ListeningRecipe {
  readonly begin: (browser: Browser) => Promise<Response>;
  /** Path that refreshes the tokens; absent if the library does not support it. */
  readonly refresh?: string;
  /** Path that redirects to the end-session endpoint; absent if the library does not support it. */
  readonly logout?: (returnTo: string) => string;
}

const JAVASCRIPT = {
  file: 'recipe.mjs',
  callback: '/callback',
  begin: (browser: Browser) => browser.get('/login'),
  start: ({ command }: FoundLibrary) => [command, 'recipe.mjs'] as const,
};

const GO = {
  ...JAVASCRIPT,
  heading: 'go-oidc',
  source: 'relying-parties/go-oidc.go',
  file: 'recipe.go',
  build: ({ command }: FoundLibrary) => [command, 'build', '-o', 'recipe', 'recipe.go'] as const,
  start: () => ['./recipe'] as const,
};

/** Command that starts Apache with the unpacked modules, if any, or with the installed modules. */
const APACHE =
  'export HTTPD_FOLDER="$PWD" APACHE_MODULES="${APACHE_MODULES:-/usr/lib/apache2/modules}"; exec apache2';

/** Header that browsers send with navigations. Without it, mod_auth_openidc responds with 401. */
const HTML = { Accept: 'text/html' };

/** Relying parties in the order of docs/openid.md. */
export const RELYING_PARTIES: readonly RelyingParty[] = [
  {
    ...JAVASCRIPT,
    heading: 'openid-client',
    source: 'relying-parties/openid-client.mjs',
    library: 'openid-client',
    needs: ["ISSUER.startsWith('http://localhost:') ? { execute: [client.allowInsecureRequests] } : "],
    refresh: '/refresh',
    logout: () => '/logout',
  },
  {
    ...JAVASCRIPT,
    heading: 'express-openid-connect',
    source: 'relying-parties/express-openid-connect.mjs',
    library: 'express-openid-connect',
    begin: (browser) => browser.get('/profile'),
    needs: ["authorizationParams: { response_type: 'code' },"],
    refresh: '/refresh',
    logout: () => '/logout',
  },
  {
    ...JAVASCRIPT,
    heading: 'Auth.js',
    source: 'relying-parties/auth-js.mjs',
    library: '@auth/express',
    callback: '/auth/callback/scheduling',
    begin: async (browser) => {
      const { csrfToken } = (await browser.get('/auth/csrf')).body as { csrfToken: string };
      return browser.post('/auth/signin/scheduling', { csrfToken, callbackUrl: '/' });
    },
    needs: ["checks: ['pkce', 'state', 'nonce'],", 'idToken: false,'],
  },
  {
    ...JAVASCRIPT,
    heading: 'passport-openidconnect',
    source: 'relying-parties/passport-openidconnect.mjs',
    library: 'passport-openidconnect',
    needs: ['  skipUserProfile: false,\n'],
  },
  {
    ...JAVASCRIPT,
    heading: 'Authlib',
    source: 'relying-parties/authlib.py',
    file: 'recipe.py',
    library: {
      interpreter: 'python3',
      packages: PACKAGES.python3,
      probe: 'import authlib.integrations.flask_client; print(authlib.__version__)',
    },
    start: ({ command }) => [command, '-B', 'recipe.py'],
  },
  { ...GO, library: { tool: 'go', name: 'github.com/coreos/go-oidc/v3' } },
  {
    ...GO,
    // Uses Debian's version, because some machines cannot reach Go's registry.
    without: '/v3/oidc',
    library: {
      interpreter: 'go',
      packages: PACKAGES.go,
      probe: 'github.com/coreos/go-oidc',
    },
  },
  {
    heading: 'Spring Security',
    source: 'relying-parties/spring-security.properties',
    file: 'application.properties',
    driver: 'Application.java',
    library: { tool: 'mvn', name: 'spring-security-oauth2-client' },
    build: () => ['javac', ...JAVAC, 'Application.java'],
    start: ({ command, env }) => [command, ...javaArguments(env), 'recipe.Application'],
    callback: '/login/oauth2/code/scheduling',
    begin: (browser) => browser.get('/oauth2/authorization/scheduling'),
    needs: ['scope=openid,profile,email'],
  },
  {
    heading: 'mod_auth_openidc',
    source: 'relying-parties/mod-auth-openidc.conf',
    file: 'recipe.conf',
    driver: 'httpd.conf',
    library: {
      interpreter: 'sh',
      packages: ['libapache2-mod-auth-openidc', 'apache2-bin'],
      probe: `test -e "\${APACHE_MODULES:-/usr/lib/apache2/modules}/mod_auth_openidc.so" && apache2 -v | sed -n 's/^Server version: *//p'`,
    },
    start: ({ command }) => [command, '-c', `${APACHE} -D FOREGROUND -d "$PWD" -f httpd.conf`],
    callback: '/login/callback',
    begin: (browser) => browser.get('/login/', HTML),
    needs: ['OIDCScope "openid profile email"'],
    logout: (returnTo) => `/login/callback?logout=${encodeURIComponent(returnTo)}`,
  },
];

const browserApplication = (heading: string): BrowserApplication => ({
  heading,
  source: `relying-parties/${heading}.mjs`,
  file: 'recipe.mjs',
  library: heading,
});

export const BROWSER_APPLICATIONS: readonly BrowserApplication[] = [
  browserApplication('oidc-client-ts'),
  {
    ...browserApplication('angular-oauth2-oidc'),
    needs: ["responseType: 'code',", 'strictDiscoveryDocumentValidation: false,'],
  },
];
