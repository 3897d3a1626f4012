import { freePort } from '#local/servers/free-port.js';
import { type FoundLibrary, PACKAGES } from '../support/foreign-library.js';
import { JAVAC, javaArguments } from './client-recipes.js';
import { type Recipe, RecipeFolder, type RecipeProduct } from './recipe.js';

/** Programs that print each event: its type, the `sub`, the details. */
export const EVENT_RECEIVERS: readonly Recipe[] = [
  {
    heading: 'jose',
    source: 'event-receivers/jose.mjs',
    file: 'recipe.mjs',
    library: 'jose',
    start: ({ command }) => [command, 'recipe.mjs'],
    needs: ['    audience: CLIENT_ID,\n'],
  },
  {
    heading: 'Node without a library',
    source: 'event-receivers/node.mjs',
    file: 'recipe.mjs',
    library: 'node',
    start: ({ command }) => [command, 'recipe.mjs'],
    needs: [' || event.aud !== CLIENT_ID'],
  },
  {
    heading: 'PyJWT',
    source: 'event-receivers/pyjwt.py',
    file: 'recipe.py',
    library: {
      interpreter: 'python3',
      packages: PACKAGES.python3,
      probe: 'import jwt, cryptography; print(jwt.__version__)',
    },
    start: ({ command }) => [command, '-B', 'recipe.py'],
  },
  {
    heading: 'go-oidc',
    source: 'event-receivers/go-oidc.go',
    file: 'recipe.go',
    library: { tool: 'go', name: 'github.com/coreos/go-oidc/v3' },
    build: ({ command }) => [command, 'build', '-o', 'recipe', 'recipe.go'],
    start: () => ['./recipe'],
    needs: [' || one.Aud != clientID'],
  },
  {
    heading: 'Nimbus JOSE + JWT',
    source: 'event-receivers/nimbus.java',
    file: 'Receiver.java',
    library: { tool: 'mvn', name: 'nimbus-jose-jwt' },
    build: () => ['javac', ...JAVAC, 'Receiver.java'],
    start: ({ command, env }) => [command, ...javaArguments(env), 'Receiver'],
  },
];

export interface RunningReceiver {
  readonly url: string;
  /** Complete lines of the output. */
  lines(): readonly string[];
  stop(): Promise<void>;
}

export async function startEventReceiver(
  receiver: Recipe,
  library: FoundLibrary,
  product: RecipeProduct,
  settings: Readonly<Record<string, string>>,
  without?: string,
): Promise<RunningReceiver> {
  const folder = await RecipeFolder.create(receiver, { without });
  const PORT = String(await freePort());
  const url = `http://127.0.0.1:${PORT}/`;
  const env = product.environment({ ...settings, PORT }, library.env);
  const { output, stop } = await folder.start(receiver, library, env, url);
  return { url, lines: () => output().split('\n').slice(0, -1), stop };
}
