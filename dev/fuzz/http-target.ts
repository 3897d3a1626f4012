import fc from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import { encode } from './draft.js';
import { FUZZED_ENDPOINTS } from './endpoints/endpoints.js';
import { type Mutation, mutation } from './mutations.js';
import { attempt, type HttpRecipe, prepare } from './request.js';
import type { Tally, Target } from './target.js';
import type { World } from './world.js';

const recipeOf = (mutations: fc.Arbitrary<readonly Mutation[]>): fc.Arbitrary<HttpRecipe> =>
  fc.record({
    endpoint: fc.constantFrom(...FUZZED_ENDPOINTS.map(({ name }) => name)),
    variant: fc.nat(0xff_ff),
    mutations,
  });

export const httpRecipe = recipeOf(fc.array(mutation, { maxLength: 4 }));

/** A good request, of which the bytes go wrong. */
export const goodRecipe = recipeOf(fc.constant([]));

/** Several times what is read of a head, or of a body that is too large. */
const MUCH = 256 * 1024;

/** Well-formed HTTP with whatever in it, one request a connection. */
export async function openHttp(world: World, tally: Tally): Promise<Target<HttpRecipe>> {
  return {
    name: 'http',
    lanes: 4,
    recipe: httpRecipe,
    close: async () => undefined,
    run: (recipe: HttpRecipe, actor: Actor): Promise<Finding[]> =>
      attempt({ actor, world, tally }, async () => {
        const { draft, port, sent } = await prepare(recipe, actor, world);
        const bytes = encode(draft);
        // CONNECT is for proxies: Node hangs up. Who sends far too much, and reads nothing meanwhile, may lose the answer.
        const isLost = draft.method === 'CONNECT' || bytes.length > MUCH;
        return {
          port,
          // What stands behind a line end in a header is a request of its own.
          sent: { ...sent, answers: { least: isLost ? 0 : 1, most: Infinity } },
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
