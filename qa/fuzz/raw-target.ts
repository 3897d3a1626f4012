import fc from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import { encode } from './draft.js';
import { validRecipe } from './http-target.js';
import { type Distortion, distortion, distort } from './distortions.js';
import { forgetVerifier } from './mutations.js';
import { sendAndCheck, type HttpRecipe, prepare } from './request.js';
import type { Tally, Target } from './target.js';
import type { TestEnvironment } from './test-environment.js';

export interface RawRecipe {
  readonly base: HttpRecipe;
  readonly distortion: Distortion;
}

const rawRecipe: fc.Arbitrary<RawRecipe> = fc.record({ base: validRecipe, distortion });

const MAX_REQUESTS = 20;

/** Opens a target that sends invalid HTTP, splits requests into pieces, and closes connections early. */
export async function openRaw(environment: TestEnvironment, tally: Tally): Promise<Target<RawRecipe>> {
  return {
    name: 'raw',
    lanes: 8,
    recipe: rawRecipe,
    close: async () => undefined,
    run: ({ base, distortion: how }: RawRecipe, actor: Actor): Promise<Finding[]> =>
      sendAndCheck({ actor, environment, tally }, async () => {
        const { draft, port, sent } = await prepare(base, actor, environment);
        const { validStatuses, ...changed } = sent;
        const { transmission, requests = Infinity, staysValid = false } = distort(how, encode(draft));
        // An edit may have moved a secret into a field that the product shows.
        if ('edits' in how) {
          environment.secrets.forget(sent.target);
          forgetVerifier(draft, environment.secrets);
        }
        return {
          port,
          sent: {
            ...changed,
            isRaw: true,
            where: `raw, ${Object.keys(how)[0] ?? ''}: ${sent.internal ? 'internal port' : sent.app}`,
            answers: { min: staysValid ? 1 : 0, max: requests },
            ...(staysValid && validStatuses && { validStatuses }),
          },
          transmission: {
            ...transmission,
            methods: Array.from({ length: MAX_REQUESTS }, () => draft.method),
          },
        };
      }),
  };
}
