import fc from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import { encode } from './draft.js';
import { CONSOLE_ENDPOINTS } from './endpoints/console-endpoints.js';
import { PORTAL_ENDPOINTS } from './endpoints/portal-endpoints.js';
import { FUZZED_ENDPOINTS } from './endpoints/endpoints.js';
import { type Mutation, mutation } from './mutations.js';
import { sendAndCheck, type HttpRecipe, prepare } from './request.js';
import type { OpenTarget, Tally, Target } from './target.js';
import type { TestEnvironment } from './test-environment.js';

const recipeOf = (
  mutations: fc.Arbitrary<readonly Mutation[]>,
  endpoints = FUZZED_ENDPOINTS,
): fc.Arbitrary<HttpRecipe> =>
  fc.record({
    endpoint: fc.constantFrom(...endpoints.map(({ name }) => name)),
    variant: fc.nat(0xff_ff),
    mutations,
  });

const mutations = fc.array(mutation, { maxLength: 4 });

export const httpRecipe = recipeOf(mutations);

const adminRecipe = recipeOf(mutations, CONSOLE_ENDPOINTS);

export const validRecipe = recipeOf(fc.constant([]));

/** Number of bytes above which the server may respond before it has read the request. */
const LARGE = 256 * 1024;

/** Opens a target that sends well-formed HTTP with unexpected content, one request per connection. */
export async function openHttp(
  environment: TestEnvironment,
  tally: Tally,
  recipe = httpRecipe,
): Promise<Target<HttpRecipe>> {
  return {
    name: 'http',
    lanes: 4,
    recipe,
    close: async () => undefined,
    run: (recipe: HttpRecipe, actor: Actor): Promise<Finding[]> =>
      sendAndCheck({ actor, environment, tally }, async () => {
        const { draft, port, sent } = await prepare(recipe, actor, environment);
        const bytes = encode(draft);
        // Node closes the connection after a CONNECT. A client that is still sending, for example a large body, may
        // lose the response.
        const mayLoseAnswer = draft.method === 'CONNECT' || bytes.length > LARGE;
        return {
          port,
          // A line break in a header may start more requests.
          sent: { ...sent, answers: { min: mayLoseAnswer ? 0 : 1, max: Infinity } },
          transmission: {
            pieces: [{ after: 0, bytes }],
            ending: 'wait',
            methods: [draft.method],
            answers: 1,
          },
        };
      }),
  };
}

export const openAdmin: OpenTarget = (environment, tally) => openHttp(environment, tally, adminRecipe);

const portalRecipe = recipeOf(mutations, PORTAL_ENDPOINTS);

export const openPortal: OpenTarget = (environment, tally) => openHttp(environment, tally, portalRecipe);
