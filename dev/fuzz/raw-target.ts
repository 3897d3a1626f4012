import fc from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import { encode } from './draft.js';
import { goodRecipe } from './http-target.js';
import { type Distortion, distortion, distort } from './distortions.js';
import { attempt, type HttpRecipe, prepare } from './request.js';
import type { Tally, Target } from './target.js';
import type { World } from './world.js';

export interface RawRecipe {
  readonly base: HttpRecipe;
  readonly distortion: Distortion;
}

const rawRecipe: fc.Arbitrary<RawRecipe> = fc.record({ base: goodRecipe, distortion });

/** More than there are requests on a connection. */
const MANY = 20;

/** Bytes that may be no HTTP, in pieces, and connections that end in the middle. */
export async function openRaw(world: World, tally: Tally): Promise<Target<RawRecipe>> {
  return {
    name: 'raw',
    lanes: 8,
    recipe: rawRecipe,
    close: async () => undefined,
    run: ({ base, distortion: how }: RawRecipe, actor: Actor): Promise<Finding[]> =>
      attempt({ actor, world, tally }, async () => {
        const { draft, port, sent } = await prepare(base, actor, world);
        const { good, ...changed } = sent;
        const { transmission, requests = Infinity, stays = false } = distort(how, encode(draft));
        // What was a parameter may be a path now, or the value of another one.
        if ('edits' in how) world.secrets.forget(sent.target);
        return {
          port,
          sent: {
            ...changed,
            where: `raw, ${Object.keys(how)[0] ?? ''}: ${sent.internal ? 'internal port' : sent.app}`,
            answers: { least: stays ? 1 : 0, most: requests },
            ...(stays && good && { good }),
          },
          transmission: { ...transmission, methods: Array.from({ length: MANY }, () => draft.method) },
        };
      }),
  };
}
