import { setTimeout as sleep } from 'node:timers/promises';
import {
  connect,
  headers as newHeaders,
  InvalidArgumentError,
  type Msg,
  type MsgHdrs,
} from '@nats-io/transport-node';
import fc from 'fast-check';
import { parseObject } from '#local/demo/exchange.js';
import { SUBJECTS } from '#messaging/contract.js';
import { REFERENCE_HEADER } from '#messaging/nats-message.js';
import { natsOptions } from '#messaging/nats.connection.js';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import { traceIn } from './leaks.js';
import type { Tally, Target } from './target.js';
import { type UnexpectedValue, unexpectedName, unexpectedValue, valueOf, weighted } from './values.js';
import type { TestEnvironment } from './test-environment.js';

type Subject = keyof typeof SUBJECTS;

interface FieldChange {
  readonly field: string;
  /** New value of the field; absent to remove the field. */
  readonly to?: UnexpectedValue;
}

const PAYLOADS = [
  '',
  'null',
  '1',
  '"x"',
  '[]',
  '{}',
  '{',
  'undefined',
  '\0',
  '{"pattern":{}}',
  '{"id":"1"}',
  '{"response":1,"id":"1"}',
] as const;

export interface NatsRecipe {
  readonly subject: Subject;
  readonly changes: readonly FieldChange[];
  /** Replaces the whole `data`. */
  readonly data?: UnexpectedValue | undefined;
  readonly id: 'valid' | 'none' | UnexpectedValue;
  readonly replacement?: string | { readonly bytes: number } | undefined;
  readonly reply: boolean;
  readonly headers: readonly (readonly [name: string, value: UnexpectedValue])[];
}

const FIELDS = [
  'token',
  'jkt',
  'proof',
  'jti',
  'nonce',
  'expires_at',
  'user_id',
  'client_id',
  'grant_id',
  'request_id',
  'pattern',
];
/** Message sizes in bytes, all of them below the server's limit (1 MiB). */
const PADDED_SIZES = [1_000, 100_000, 800_000];

const change: fc.Arbitrary<FieldChange> = weighted(
  [1, fc.record({ field: fc.constantFrom(...FIELDS) })],
  [5, fc.record({ field: fc.constantFrom(...FIELDS), to: unexpectedValue })],
  [1, fc.record({ field: unexpectedName, to: unexpectedValue })],
);
const never = fc.constant(undefined);

const natsRecipe: fc.Arbitrary<NatsRecipe> = fc.record({
  subject: fc.constantFrom(...(Object.keys(SUBJECTS) as Subject[])),
  changes: weighted([1, fc.constant([])], [2, fc.array(change, { minLength: 1, maxLength: 3 })]),
  data: weighted([5, never], [1, unexpectedValue]),
  id: weighted([6, fc.constant('valid')], [1, fc.constant('none')], [1, unexpectedValue]),
  replacement: weighted(
    [8, never],
    [1, fc.constantFrom(...PAYLOADS)],
    [1, fc.record({ bytes: fc.constantFrom(...PADDED_SIZES) })],
  ),
  reply: weighted([4, fc.constant(true)], [1, fc.constant(false)]),
  headers: fc.array(
    fc.tuple(
      fc.constantFrom(REFERENCE_HEADER, 'traceparent', 'Nats-Service-Error', '__proto__', 'x'),
      unexpectedValue,
    ),
    { maxLength: 2 },
  ),
});

/** Longer than the product's timeout of 2 s (docs/configuration.md), for a busy machine. */
const ANSWER_TIMEOUT_MS = 15_000;
const MAX_ATTEMPTS = 3;
const PAUSE_MS = 2_000;

interface Message {
  readonly data: (actor: Actor) => Promise<Record<string, unknown>>;
  /** Absent if the message is a broadcast. */
  readonly isExpected?: (response: Record<string, unknown>) => boolean;
}

const proofOf = (actor: Actor) => ({
  jkt: actor.key.jkt,
  jti: actor.newSecret('state'),
  expires_at: Date.now() + 60_000,
});

const externalUser = (actor: Actor) => ({
  issuer: 'https://product.example.com',
  external_id: actor.newSecret('state'),
  updated_at: new Date().toISOString(),
});

/** A valid message for each subject of the contract. */
const MESSAGES: Readonly<Record<Subject, Message>> = {
  introspect: {
    data: async (actor) => {
      const { access } = await actor.pair({ isPublic: false, bound: true }, 'share');
      return { token: access, jkt: actor.key.jkt, proof: proofOf(actor) };
    },
    isExpected: ({ active, grant_id: id, cnf, proof }) =>
      active === true && typeof id === 'string' && Boolean(cnf) && Boolean(proof),
  },
  consumeProof: {
    data: async (actor) => proofOf(actor),
    isExpected: ({ outcome }) => outcome === 'consumed',
  },
  requestGivenUp: { data: async (actor) => ({ request_id: actor.newSecret('state') }) },
  profile: {
    data: async ({ user }) => ({ user_id: user.id }),
    isExpected: ({ user }) => typeof user === 'object' && user !== null,
  },
  claims: {
    data: async ({ user, confidential }) => ({ user_id: user.id, client_id: confidential.id }),
    isExpected: ({ claims }) => typeof claims === 'object' && claims !== null && 'sub' in claims,
  },
  applyRevocations: {
    data: async ({ confidential }) => ({ client_id: confidential.id }),
    isExpected: ({ applied }) => typeof applied === 'number',
  },
  sealHeader: {
    data: async ({ confidential }) => ({
      client_id: confidential.id,
      endpoint_url: 'https://fuzz.example.com/',
      header: 'Bearer fuzz',
    }),
    isExpected: ({ sealed }) => typeof sealed === 'string',
  },
  clientKeys: {
    data: async ({ confidential }) => ({ client_id: confidential.id }),
    isExpected: ({ fetched }) => fetched === null,
  },
  userUpsert: {
    data: async (actor) => ({ ...externalUser(actor), email: 'fuzz@example.com' }),
    isExpected: ({ status }) => status === 'created',
  },
  userDisable: {
    data: async (actor) => externalUser(actor),
    isExpected: ({ status }) => status === 'unknown',
  },
  userDelete: {
    data: async (actor) => externalUser(actor),
    isExpected: ({ status }) => status === 'unknown',
  },
  grantRevoked: { data: async (actor) => ({ grant_id: actor.newSecret('state') }) },
  clientChanged: { data: async ({ confidential }) => ({ client_id: confidential.id }) },
  userChanged: { data: async ({ user }) => ({ user_id: user.id }) },
};

export async function openNats(environment: TestEnvironment, tally: Tally): Promise<Target<NatsRecipe>> {
  const nats = await connect(natsOptions(environment.natsUrl, 'fuzz'));
  const send = async (recipe: NatsRecipe, actor: Actor): Promise<Reply> => {
    const subject = SUBJECTS[recipe.subject];
    const payload = await payloadOf(recipe, actor);
    const headers = headersOf(recipe, actor);
    const options = headers ? { headers } : {};
    if (!recipe.reply) {
      try {
        nats.publish(subject, payload, options);
      } catch (error) {
        return outcomeOfFailure(error);
      }
      await nats.flush();
      return 'sent';
    }
    const answer = nats
      .request(subject, payload, { ...options, timeout: ANSWER_TIMEOUT_MS })
      .catch(outcomeOfFailure);
    if (expectsReply(recipe)) return answer;
    // Checks a response that arrives soon, although none is required.
    return Promise.race([answer, sleep(100, 'sent' as const, { ref: false })]);
  };
  return {
    name: 'nats',
    lanes: 2,
    recipe: natsRecipe,
    close: () => nats.close(),
    async run(recipe: NatsRecipe, actor: Actor): Promise<Finding[]> {
      for (let attempt = 1; ; attempt += 1) {
        const reply = await send(recipe, actor);
        const found = checkReply(recipe, reply, environment);
        tally(SUBJECTS[recipe.subject], outcomeOf(reply));
        // Retries, because the product may be overloaded on a busy machine.
        if (!found.some(({ rule }) => rule === REFUSED) || attempt === MAX_ATTEMPTS) return found;
        await sleep(PAUSE_MS);
      }
    },
  };
}

type Reply = Msg | 'unanswered' | 'too large' | 'sent';

const REFUSED = 'valid request is refused';

/** Returns `too large` for a message above the server's limit (1 MiB), which the NATS client does not send. */
export function outcomeOfFailure(error: unknown): 'unanswered' | 'too large' {
  return error instanceof InvalidArgumentError ? 'too large' : 'unanswered';
}

function outcomeOf(reply: Reply): string {
  if (typeof reply === 'string') return reply;
  return parseObject(textOf(reply))['err'] === undefined ? 'answered' : 'error';
}

function checkReply(recipe: NatsRecipe, reply: Reply, { secrets }: TestEnvironment): Finding[] {
  const text = textOf(reply);
  const found: Finding[] = [];
  const add = (rule: string, detail: string) => found.push({ rule, where: SUBJECTS[recipe.subject], detail });
  if (reply === 'unanswered') add('hangs', `no answer in ${ANSWER_TIMEOUT_MS / 1000} s`);
  const leak = traceIn(text);
  if (leak !== undefined) add('stack trace or path in an answer', leak);
  for (const kind of new Set(secrets.in(text).values())) add(`${kind} in an answer`, text);
  const response = (parseObject(text)['response'] ?? {}) as Record<string, unknown>;
  const isExpected = MESSAGES[recipe.subject].isExpected?.(response) ?? true;
  if (isUnchanged(recipe) && recipe.reply && !isExpected) add(REFUSED, text.slice(0, 300));
  return found;
}

function textOf(reply: Reply): string {
  return typeof reply === 'string' ? '' : Buffer.from(reply.data).toString();
}

function isUnchanged({ changes, data, id, replacement }: NatsRecipe): boolean {
  return changes.length === 0 && data === undefined && id === 'valid' && replacement === undefined;
}

function expectsReply({ subject, id, replacement }: NatsRecipe): boolean {
  return MESSAGES[subject].isExpected !== undefined && id === 'valid' && replacement === undefined;
}

async function payloadOf(
  { subject, changes, data: whole, id, replacement }: NatsRecipe,
  actor: Actor,
): Promise<string> {
  if (typeof replacement === 'string') return replacement;
  const data = await MESSAGES[subject].data(actor);
  for (const { field, to } of changes) {
    if (!to) delete data[field];
    // defineProperty, because an assignment to __proto__ would set the prototype.
    else Object.defineProperty(data, field, { value: json(to), enumerable: true, configurable: true });
  }
  const message = whole ? json(whole) : data;
  if (!MESSAGES[subject].isExpected) return pad(JSON.stringify(message), replacement);
  const packet = {
    pattern: SUBJECTS[subject],
    data: message,
    ...(id !== 'none' && { id: id === 'valid' ? '1' : json(id) }),
  };
  return pad(JSON.stringify(packet), replacement);
}

function pad(text: string, size: { readonly bytes: number } | undefined): string {
  return size ? text + ' '.repeat(Math.max(0, size.bytes - Buffer.byteLength(text))) : text;
}

/** Limits the nesting so that the value fits into a message. */
function json(value: UnexpectedValue): unknown {
  if (!('nest' in value)) return valueOf(value);
  let nested: unknown = 1;
  for (let depth = 0; depth < Math.min(value.depth, 1_000); depth += 1) nested = [nested];
  return nested;
}

function headersOf({ headers }: NatsRecipe, actor: Actor): MsgHdrs | undefined {
  if (headers.length === 0) return undefined;
  const sent = newHeaders();
  for (const [name, unexpected] of headers) {
    const value = valueOf(unexpected);
    const text = typeof value === 'string' ? value.slice(0, 20_000) : actor.retiredCredential(name.length);
    // The NATS client rejects these characters in headers.
    if (!/[\r\n\0]/.test(text)) sent.append(name, text);
  }
  return sent;
}
