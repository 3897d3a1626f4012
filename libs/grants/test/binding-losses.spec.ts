import fc from 'fast-check';
import { granted, useGrantEnvironment } from './use-grant-environment.js';
import { KEYS } from './grant-model.js';

const environment = useGrantEnvironment();

type Step =
  | {
      readonly do: 'refresh';
      /** Position in the list of all refresh tokens, from the end. */
      readonly back: number;
      readonly hasKeys: boolean;
      readonly keepsRefreshToken: boolean;
      readonly jkt: string | null;
    }
  | { readonly do: 'introspect'; readonly back: number }
  | { readonly do: 'copy' | 'fall back' | 'lose' };

const jkt = fc.constantFrom(null, ...KEYS);
const back = fc.nat({ max: 3 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('refresh' as const),
        back,
        hasKeys: fc.boolean(),
        keepsRefreshToken: fc.boolean(),
        jkt,
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('introspect' as const), back }) },
    {
      weight: 3,
      arbitrary: fc.constantFrom('copy' as const, 'fall back' as const, 'lose' as const).map((does) => ({
        do: does,
      })),
    },
  ),
  { minLength: 1, maxLength: 20, size: 'max' },
);

interface Issued {
  readonly refreshTokens: string[];
  readonly accessTokens: { readonly text: string; readonly jkt: string | null }[];
}

const keyOf = (token: string) => environment.fixture.codec.decode(token)?.jkt ?? null;

async function refreshAndCheck(issued: Issued, step: Extract<Step, { do: 'refresh' }>): Promise<void> {
  const { hasKeys: clientHasKeys, keepsRefreshToken, jkt: proved } = step;
  const presented = issued.refreshTokens.at(-1 - step.back) ?? issued.refreshTokens[0] ?? '';
  const bound = keyOf(presented);
  const { clientId } = environment;
  const request = { clientId, clientHasKeys, keepsRefreshToken, jkt: proved, scope: null, resources: null };
  const answer = await environment.engine.refresh(presented, request);
  if (answer.outcome !== 'granted') return;
  const { pair } = answer;
  if (bound !== null) expect(proved).not.toBeNull();
  if (!clientHasKeys) expect([proved, keyOf(pair.refreshToken)]).toEqual([bound, bound]);
  expect([pair.type, keyOf(pair.accessToken)]).toEqual([proved === null ? 'Bearer' : 'DPoP', proved]);
  issued.refreshTokens.push(pair.refreshToken);
  issued.accessTokens.push({ text: pair.accessToken, jkt: proved });
}

describe('a loss of data in Redis', () => {
  it('never removes or changes the binding of a token', async () => {
    const { engine, fixture } = environment;
    await fc.assert(
      fc.asyncProperty(jkt, steps, async (first, history) => {
        const { code, grantId } = await environment.pending();
        const key = `grant:${grantId}`;
        let copy = await fixture.redis.dumpBuffer(key);
        const { pair } = granted(await environment.redeem(code, first));
        const issued: Issued = {
          refreshTokens: [pair.refreshToken],
          accessTokens: [{ text: pair.accessToken, jkt: first }],
        };
        for (const step of history) {
          if (step.do === 'refresh') await refreshAndCheck(issued, step);
          else if (step.do === 'introspect')
            await engine.introspectWithoutProof(issued.accessTokens.at(-1 - step.back)?.text ?? '');
          else if (step.do === 'copy') copy = (await fixture.redis.dumpBuffer(key)) ?? copy;
          else if (step.do === 'lose') await fixture.redis.del(key);
          else await fixture.redis.restore(key, 0, copy, 'REPLACE');
        }
        for (const { text, jkt: bound } of issued.accessTokens) {
          for (const proved of [null, ...KEYS]) {
            const { outcome } = await engine.introspect(text, proved);
            if (bound !== null && proved !== bound) expect(outcome).toBe('key_mismatch');
            else expect(['active', 'revoked']).toContain(outcome);
          }
          const found = await engine.introspectWithoutProof(text);
          if (found.outcome === 'active') expect(found.token.jkt).toBe(bound);
        }
        // A grant that was bound from the start has only bound tokens.
        if (first === null) return;
        expect(issued.accessTokens.map((token) => token.jkt)).not.toContain(null);
        expect(issued.refreshTokens.map(keyOf)).not.toContain(null);
      }),
      { numRuns: 300 },
    );
  });
});
