import { setTimeout as sleep } from 'node:timers/promises';
import { connect, headers as newHeaders, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import fc from 'fast-check';
import { SUBJECTS } from '#introspection/contract.js';
import { REFERENCE_HEADER } from '#platform/nats/nats-message.js';
import { natsOptions } from '#platform/nats/nats.connection.js';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import { traceIn } from './leaks.js';
import type { Tally, Target } from './target.js';
import { type Odd, oddName, oddValue, valueOf } from './values.js';
import type { World } from './world.js';

type Subject = keyof typeof SUBJECTS;

interface FieldChange {
  readonly field: string;
  /** Absent: the field is left out. */
  readonly to?: Odd;
}

/** What is sent in place of a packet: text that is no JSON, or JSON that is no packet. */
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
  /** What is sent for the whole of `data`. */
  readonly data?: Odd | undefined;
  readonly id: 'good' | 'none' | Odd;
  readonly instead?: string | { readonly bytes: number } | undefined;
  readonly reply: boolean;
  readonly headers: readonly (readonly [name: string, value: Odd])[];
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
  'pattern',
];
/** Just under what the server takes in one message. */
const BIG = [1_000, 100_000, 800_000];

const change: fc.Arbitrary<FieldChange> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ field: fc.constantFrom(...FIELDS) }) },
  { weight: 5, arbitrary: fc.record({ field: fc.constantFrom(...FIELDS), to: oddValue }) },
  { weight: 1, arbitrary: fc.record({ field: oddName, to: oddValue }) },
);
const never = fc.constant(undefined);

const natsRecipe: fc.Arbitrary<NatsRecipe> = fc.record({
  subject: fc.constantFrom(...(Object.keys(SUBJECTS) as Subject[])),
  changes: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
  ),
  data: fc.oneof({ weight: 5, arbitrary: never }, { weight: 1, arbitrary: oddValue }),
  id: fc.oneof(
    { weight: 6, arbitrary: fc.constant('good' as const) },
    { weight: 1, arbitrary: fc.constant('none' as const) },
    { weight: 1, arbitrary: oddValue },
  ),
  instead: fc.oneof(
    { weight: 8, arbitrary: never },
    { weight: 1, arbitrary: fc.constantFrom(...PAYLOADS) },
    { weight: 1, arbitrary: fc.record({ bytes: fc.constantFrom(...BIG) }) },
  ),
  reply: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  headers: fc.array(
    fc.tuple(
      fc.constantFrom(REFERENCE_HEADER, 'traceparent', 'Nats-Service-Error', '__proto__', 'x'),
      oddValue,
    ),
    { maxLength: 2 },
  ),
});

/** Callers wait 2 s (docs/configuration.md); a busy machine takes longer. */
const ANSWER_MS = 15_000;
const ATTEMPTS = 3;
const PAUSE_MS = 2_000;

interface Message {
  /** What is good to send. */
  readonly data: (actor: Actor) => Promise<Record<string, unknown>>;
  /** Whether what is answered to that is what it should be; absent for a broadcast. */
  readonly good?: (response: Record<string, unknown>) => boolean;
}

const proofOf = (actor: Actor) => ({
  jkt: actor.key.jkt,
  jti: actor.fresh('state'),
  expires_at: Date.now() + 60_000,
});

/** A message for every subject of the contract; the type requires one for each. */
const MESSAGES: Readonly<Record<Subject, Message>> = {
  introspect: {
    data: async (actor) => {
      const { access } = await actor.pair({ isPublic: false, bound: true }, 'look');
      return { token: access, jkt: actor.key.jkt, proof: proofOf(actor) };
    },
    good: ({ active, grant_id: id, cnf, proof }) =>
      active === true && typeof id === 'string' && Boolean(cnf) && Boolean(proof),
  },
  consumeProof: { data: async (actor) => proofOf(actor), good: ({ outcome }) => outcome === 'consumed' },
  profile: {
    data: async ({ person }) => ({ user_id: person.id }),
    good: ({ user }) => typeof user === 'object' && user !== null,
  },
  applyRevocations: {
    data: async ({ confidential }) => ({ client_id: confidential.id }),
    good: ({ applied }) => typeof applied === 'number',
  },
  grantRevoked: { data: async (actor) => ({ grant_id: actor.fresh('state') }) },
  clientChanged: { data: async ({ confidential }) => ({ client_id: confidential.id }) },
  userChanged: { data: async ({ person }) => ({ user_id: person.id }) },
};

/** Messages to every subject of the contract, from somebody who may send them. */
export async function openNats(world: World, tally: Tally): Promise<Target<NatsRecipe>> {
  const nats = await connect(natsOptions(world.natsUrl, 'fuzz'));
  const send = async (recipe: NatsRecipe, actor: Actor): Promise<Reply> => {
    const subject = SUBJECTS[recipe.subject];
    const payload = await payloadOf(recipe, actor);
    const headers = headersOf(recipe, actor);
    const options = headers ? { headers } : {};
    if (!recipe.reply) {
      nats.publish(subject, payload, options);
      await nats.flush();
      return 'sent';
    }
    if (isAnswered(recipe))
      return nats.request(subject, payload, { ...options, timeout: ANSWER_MS }).catch(() => 'unanswered');
    // An answer is not owed, but if there is one it is looked at.
    const answer = nats
      .request(subject, payload, { ...options, timeout: ANSWER_MS })
      .catch(() => 'unanswered' as const);
    return Promise.race([answer, sleep(100, 'sent' as const, { ref: false })]);
  };
  return {
    name: 'nats',
    lanes: 2,
    recipe: natsRecipe,
    close: () => nats.close(),
    async run(recipe: NatsRecipe, actor: Actor): Promise<Finding[]> {
      for (let tries = 1; ; tries += 1) {
        const reply = await send(recipe, actor);
        const found = judge(recipe, reply, world);
        tally(SUBJECTS[recipe.subject], outcomeOf(reply));
        // As over HTTP: a machine that does much else may make the product busy.
        if (!found.some(({ rule }) => rule === REFUSED) || tries === ATTEMPTS) return found;
        await sleep(PAUSE_MS);
      }
    },
  };
}

type Reply = Msg | 'unanswered' | 'sent';

const REFUSED = 'good request is refused';

function outcomeOf(reply: Reply): string {
  if (typeof reply === 'string') return reply;
  return parse(textOf(reply)).err === undefined ? 'answered' : 'error';
}

/** Holds what came back to every rule. */
function judge(recipe: NatsRecipe, reply: Reply, { secrets }: World): Finding[] {
  const text = textOf(reply);
  const found: Finding[] = [];
  const add = (rule: string, detail: string) => found.push({ rule, where: SUBJECTS[recipe.subject], detail });
  if (reply === 'unanswered') add('hangs', `no answer in ${ANSWER_MS / 1000} s`);
  const leak = traceIn(text);
  if (leak !== undefined) add('stack trace or path in an answer', leak);
  for (const kind of new Set(secrets.in(text).values())) add(`${kind} in an answer`, text);
  const response = (parse(text).response ?? {}) as Record<string, unknown>;
  const isGood = MESSAGES[recipe.subject].good?.(response) ?? true;
  if (isUnchanged(recipe) && recipe.reply && !isGood) add(REFUSED, text.slice(0, 300));
  return found;
}

function textOf(reply: Reply): string {
  return typeof reply === 'string' ? '' : Buffer.from(reply.data).toString();
}

function isUnchanged({ changes, data, id, instead }: NatsRecipe): boolean {
  return changes.length === 0 && data === undefined && id === 'good' && instead === undefined;
}

/** Whether the message is a request, whose sender waits for a reply. */
function isAnswered({ subject, id, instead }: NatsRecipe): boolean {
  return MESSAGES[subject].good !== undefined && id === 'good' && instead === undefined;
}

async function payloadOf(
  { subject, changes, data: whole, id, instead }: NatsRecipe,
  actor: Actor,
): Promise<string> {
  if (typeof instead === 'string') return instead;
  const data = await MESSAGES[subject].data(actor);
  for (const { field, to } of changes) {
    if (!to) delete data[field];
    // Not by assignment: __proto__ is a field like any other.
    else Object.defineProperty(data, field, { value: json(to), enumerable: true, configurable: true });
  }
  const message = whole ? json(whole) : data;
  if (!MESSAGES[subject].good) return pad(JSON.stringify(message), instead);
  const packet = {
    pattern: SUBJECTS[subject],
    data: message,
    ...(id !== 'none' && { id: id === 'good' ? '1' : json(id) }),
  };
  return pad(JSON.stringify(packet), instead);
}

function pad(text: string, size: { readonly bytes: number } | undefined): string {
  return size ? text + ' '.repeat(Math.max(0, size.bytes - Buffer.byteLength(text))) : text;
}

/** What JSON can hold of a value, and no larger than a message may be. */
function json(odd: Odd): unknown {
  if (!('nest' in odd)) return valueOf(odd);
  let value: unknown = 1;
  for (let depth = 0; depth < Math.min(odd.depth, 1_000); depth += 1) value = [value];
  return value;
}

function headersOf({ headers }: NatsRecipe, actor: Actor): MsgHdrs | undefined {
  if (headers.length === 0) return undefined;
  const made = newHeaders();
  for (const [name, odd] of headers) {
    const value = valueOf(odd);
    const text = typeof value === 'string' ? value.slice(0, 20_000) : actor.old(name.length);
    // The client refuses what no header can hold.
    if (!/[\r\n\0]/.test(text)) made.append(name, text);
  }
  return made;
}

function parse(text: string): { response?: unknown; err?: unknown } {
  try {
    return (JSON.parse(text) as { response?: unknown; err?: unknown } | null) ?? {};
  } catch {
    return {};
  }
}
