import { delimiter } from 'node:path';
import type { WantedLibrary } from '../support/foreign-library.js';
import type { Recipe } from './recipe.js';

/** A recipe with the functions that those of client libraries have in common. */
export interface ClientRecipe extends Recipe {
  /** The program that calls its functions. */
  readonly driver: string;
}

const javaScript = (heading: string): ClientRecipe => ({
  heading,
  file: 'recipe.mjs',
  driver: 'driver.mjs',
  library: heading,
  start: ({ command }) => [command, 'driver.mjs'],
});

const python = (
  heading: string,
  library: Omit<WantedLibrary, 'interpreter'>,
  needs: readonly string[],
): ClientRecipe => ({
  heading,
  file: 'recipe.py',
  driver: 'driver.py',
  library: { interpreter: 'python3', ...library },
  needs,
  start: ({ command }) => [command, '-B', 'driver.py'],
});

/** In the order of the guide. */
export const CLIENT_RECIPES: readonly ClientRecipe[] = [
  { ...javaScript('openid-client'), needs: ["algorithm: 'oauth2',", '[client.allowInsecureRequests]'] },
  { ...javaScript('oauth4webapi'), needs: ["algorithm: 'oauth2', ", ', ...options'] },
  { ...javaScript('simple-oauth2'), needs: ['    state,\n'] },
  javaScript('@badgateway/oauth2-client'),
  python(
    'Authlib',
    {
      packages: ['python3-authlib', 'python3-requests'],
      probe: 'import authlib.integrations.requests_client; print(authlib.__version__)',
    },
    ['code_challenge_method="S256",', 'scope=tokens["scope"]'],
  ),
  python(
    'requests-oauthlib',
    {
      packages: ['python3-requests-oauthlib'],
      probe: 'import requests_oauthlib; print(requests_oauthlib.__version__)',
    },
    [
      'os.environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"',
      'if ISSUER.startswith("http://localhost:"):\n    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"',
    ],
  ),
  {
    heading: 'oauth2',
    needs: ['state: state,'],
    file: 'recipe.rb',
    driver: 'driver.rb',
    library: {
      interpreter: 'ruby',
      packages: ['ruby-oauth2'],
      probe: 'require "oauth2"; require "oauth2/version"; puts OAuth2::Version',
    },
    start: ({ command }) => [command, 'driver.rb'],
  },
  {
    heading: 'golang.org/x/oauth2',
    file: 'recipe.go',
    driver: 'driver.go',
    library: {
      interpreter: 'go',
      packages: ['golang-go', 'golang-golang-x-oauth2-dev'],
      probe: 'golang.org/x/oauth2',
    },
    build: ({ command }) => [command, 'build', '-o', 'recipe', 'recipe.go', 'driver.go'],
    start: () => ['./recipe'],
  },
  {
    heading: 'google-oauth-client',
    needs: ['.setState(session.state())'],
    file: 'Recipe.java',
    driver: 'Driver.java',
    library: {
      interpreter: 'java',
      packages: ['libgoogle-oauth-client-java'],
      probe: 'test/recipes/OauthClientVersion.java',
    },
    build: ({ command }) => [command.replace(/[^/]+$/, 'javac'), '-d', '.', 'Recipe.java', 'Driver.java'],
    start: ({ command, env }) => [command, '-cp', ['.', env['CLASSPATH']].join(delimiter), 'Driver'],
  },
];
