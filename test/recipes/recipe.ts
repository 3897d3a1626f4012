import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { ClientStore, type NewClient } from '#clients/client.store.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import type { FoundLibrary, WantedLibrary } from '../support/foreign-library.js';
import { Dialogue } from '../interop/dialogue.js';
import { TestPackages } from '../support/test-packages.js';
import { Browser } from '../support/browser.js';
import { type RunningProgram, startProgram } from '../support/program.js';
import { withDatabase } from '../support/test-database.js';
import { type RunningProduct, startProduct, withStores } from '../end-to-end/running-product.js';

/** Folder of package.json and lock file, for packages that only recipes use. */
export const MANIFESTS = resolve('test/recipes');

export const RECIPE_PACKAGES = new TestPackages(MANIFESTS);

export const RECIPES_FOLDER = RECIPE_PACKAGES.folder;

const GUIDE = 'docs/integrate.md';

/** Library from a registry that may be unreachable. A manifest in this folder contains the version. */
export interface RegistryLibrary {
  readonly tool: 'go' | 'mvn';
  /** Name of the Go module, or prefix of the name of the jar file. */
  readonly name: string;
}

export interface Recipe {
  readonly heading: string;
  /** Path of the recipe in the folder examples. */
  readonly source: string;
  /** Name under which the recipe runs. */
  readonly file: string;
  /** Name of an npm package (`node` without a library), Debian packages, or a library of another registry. */
  readonly library: string | WantedLibrary | RegistryLibrary;
  readonly build?: (library: FoundLibrary) => readonly [string, ...string[]];
  readonly start: (library: FoundLibrary) => readonly [string, ...string[]];
  /** Lines of the recipe that replace the library's defaults. The recipe fails without them. */
  readonly needs?: readonly string[];
}

type Source = Pick<Recipe, 'source' | 'file'>;

export class RecipeFolder {
  private constructor(readonly path: string) {}

  /** @param options `driver` is a program that calls the recipe's functions; `without` is code to remove */
  static async create(
    recipe: Source,
    options: { driver?: string; without?: string | undefined } = {},
  ): Promise<RecipeFolder> {
    await mkdir(RECIPES_FOLDER, { recursive: true });
    const folder = new RecipeFolder(await mkdtemp(join(RECIPES_FOLDER, 'recipe-')));
    await folder.add(recipe, options.without);
    const { driver } = options;
    if (driver !== undefined) await cp(resolve('test/recipes/drivers', driver), join(folder.path, driver));
    return folder;
  }

  async add({ source, file }: Source, without = ''): Promise<string> {
    const code = await readFile(join('examples', source), 'utf8');
    if (!code.includes(without)) throw new Error(`${source} has no ${without}`);
    await writeFile(join(this.path, file), code.replace(without, ''));
    return code;
  }

  async compile([command, ...args]: readonly [string, ...string[]], env: NodeJS.ProcessEnv): Promise<void> {
    // Shares the Go build cache between runs.
    const all = { GOCACHE: resolve('.local/go-build'), ...env };
    const { code, stdout, stderr } = await runCommand(command, args, { cwd: this.path, env: all });
    if (code !== 0) throw new Error(`the recipe was not built: ${stdout}${stderr}`);
  }

  /** Builds and starts a recipe that serves `url`. `stop` also removes this folder. */
  async start(
    recipe: Pick<Recipe, 'heading' | 'build' | 'start'>,
    library: FoundLibrary,
    env: NodeJS.ProcessEnv,
    url: string,
  ): Promise<RunningProgram> {
    if (recipe.build) await this.compile(recipe.build(library), env);
    const place = { cwd: this.path, env, urls: [url] };
    const program = await startProgram(recipe.heading, recipe.start(library), place);
    const stop = async () => {
      await program.stop();
      await this.remove();
    };
    return { ...program, stop };
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

export async function commandsOfFlow(): Promise<string[]> {
  const section = (await readFile(GUIDE, 'utf8')).split('\n## The flow\n')[1]?.split(/^## /m)[0] ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands);
}

export type Tokens = Readonly<Record<string, unknown>>;

type Session = Readonly<Record<string, string>>;

class RecipeError extends Error {
  constructor(
    message: string,
    readonly ended: boolean,
  ) {
    super(message);
  }
}

type Answer<Result> = { readonly result: Result } | { readonly error: string; readonly ended: boolean };

export class CalledRecipe {
  private readonly dialogue: Dialogue;

  constructor(folder: string, [command, ...args]: readonly [string, ...string[]], env: NodeJS.ProcessEnv) {
    this.dialogue = new Dialogue(command, args, env, folder);
  }

  start = (): Promise<[url: string, session: Session]> => this.call('start');
  finish = (callback: URL, session: Session): Promise<Tokens> => this.call('finish', callback.href, session);
  refresh = (tokens: Tokens): Promise<Tokens> => this.call('refresh', tokens);
  profile = (tokens: Tokens): Promise<{ email: string }> => this.call('profile', tokens);
  disconnect = (tokens: Tokens): Promise<unknown> => this.call('disconnect', tokens);

  accessToken = (userId: number): Promise<string | undefined> => this.call('accessToken', userId);

  end(): Promise<void> {
    return this.dialogue.end();
  }

  private async call<Result>(call: string, ...args: unknown[]): Promise<Result> {
    this.dialogue.send({ call, args });
    const answer = await this.dialogue.receive<Answer<Result>>();
    if ('result' in answer || !('error' in answer)) return (answer as { result: Result }).result;
    throw new RecipeError(answer.error, answer.ended);
  }
}

const REDIRECT_URI = 'https://app.example.com/callback';
export const SCOPE = 'profile:read bookings:read';

const DECLINED = ['allow:bookings:read'];

export class RecipeProduct {
  private constructor(private readonly product: RunningProduct) {}

  static async start(settings?: Parameters<typeof startProduct>[0]): Promise<RecipeProduct> {
    return new RecipeProduct(await startProduct(settings));
  }

  get user(): { email: string; password: string } {
    return this.product.run.user;
  }

  get email(): string {
    return this.user.email;
  }

  get databaseUrl(): string {
    return this.product.databaseUrl;
  }

  get apiUrl(): string {
    return this.product.run.api_url;
  }

  /** Allows all scopes except the optional one. @returns the redirect to the application */
  allow(authorizationUrl: string, browser = new Browser('')): Promise<URL> {
    return browser.allow(authorizationUrl, this.user, DECLINED);
  }

  /** Marks the user's email address as verified. @returns the user's `sub` */
  async verifyEmail(): Promise<string> {
    const statement = 'UPDATE users SET email_verified = true WHERE email = $1 RETURNING id';
    const { rows } = await withDatabase(this.databaseUrl, (client) =>
      client.query<{ id: string }>(statement, [this.email]),
    );
    return String(rows[0]?.id);
  }

  /** Registers a client. @returns environment variables for its recipe */
  async register(
    type: NewClient['type'] = 'confidential',
    redirectUri = REDIRECT_URI,
    registration: Partial<NewClient> = {},
  ): Promise<Record<string, string>> {
    const { secret, hash } = generateClientSecret();
    const { clientId } = await withStores(this.product.databaseUrl, (stores) =>
      stores.get(ClientStore).create({
        name: 'Recipe',
        type,
        redirectUris: [redirectUri],
        scopes: SCOPE.split(' '),
        optionalScopes: ['bookings:read'],
        ...(type === 'confidential' && { secretHash: hash }),
        ...registration,
      }),
    );
    const { auth_url, base_url, api_url } = this.product.run;
    return {
      AUTHORIZATION_URL: `${auth_url}/auth/oauth2/authorize`,
      TOKEN_URL: `${base_url}/api/auth/oauth/token`,
      ISSUER: base_url,
      API_URL: api_url,
      CLIENT_ID: clientId,
      ...(type === 'confidential' && { CLIENT_SECRET: secret }),
      REDIRECT_URI: redirectUri,
      SESSION_SECRET: 'a secret of this test, longer than 32 characters',
    };
  }

  /** Returns an environment that bypasses proxies. */
  environment(settings: Readonly<Record<string, string>>, base = process.env): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _ofJest, ...env } = base;
    return { ...env, no_proxy: '*', NO_PROXY: '*', ...settings };
  }

  close(): Promise<void> {
    return this.product.close();
  }
}
