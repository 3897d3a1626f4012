import { randomBytes } from 'node:crypto';
import { Injectable, Module } from '@nestjs/common';
import { IsBoolean, IsIn, IsString } from 'class-validator';
import { TokenKeyStore } from '../token-key.store.js';
import { generateSigningKey, SIGNING_ALGORITHMS, type SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { Announcer } from '#operations/announcer.js';
import { type Input, validated } from '#operations/operation-input.js';
import { describeRemedy } from '#error-guide/doctor/remedies.js';
import { problem, reports } from '#platform/validation/problem.js';
import { MayBeAbsent, Rule, Satisfies } from '#platform/validation/validate.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { askServices } from '#operations/running-services/status.js';
import { processName } from '#operations/wording.js';
import { isStopping } from '#platform/status/status-report.js';
import { idTokenKeyProblems, idTokenKeyReport } from './id-token-key-report.js';
import { type IdTokenKeyStep, nextIdTokenStep } from './id-token-rotation.js';
import { type KeyProblem, keyReport, type ReportedKey } from './key-report.js';
import { isTokenKeys, whyNotPrivateKeys } from './key-values.js';
import { nextStep, type RotationStep } from './rotation.js';

/**
 * Processes are named by service and instance. Times are ISO 8601; null if unknown, or if the key has not signed yet.
 */
interface KeyUse {
  readonly id: string;
  readonly signs_in: readonly string[];
  readonly verifies_in: readonly string[];
  readonly missing_in: readonly string[];
  readonly first_seen_at: string | null;
  readonly last_signed_at: string | null;
  readonly needed_until: string | null;
}

export interface KeyList {
  readonly processes: readonly string[];
  readonly keys: readonly KeyUse[];
  readonly id_token_keys: readonly (KeyUse & { readonly alg: string })[];
  readonly problems: readonly (Omit<KeyProblem, 'remedy'> & { readonly remedy: string })[];
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    token_keys_invalid: null;
    /** `reason` is `empty`, `public`, or the reason why the text cannot be read, without the text. */
    id_token_keys_invalid: { readonly reason: string };
    algorithm_unknown: { readonly algorithms: readonly string[] };
  }
}

class TokenKeyRotationDto {
  @Satisfies(isTokenKeys, reports('token_keys_invalid'))
  @IsString()
  tokenKeys: string;

  /** Begins a rotation even if live tokens still need a key of the previous rotation. */
  @IsBoolean()
  begin = false;
}

class IdTokenKeyRotationDto {
  @Rule(({ idTokenKeys }: IdTokenKeyRotationDto) => {
    const reason = whyNotPrivateKeys(idTokenKeys);
    return reason === null ? [] : [problem('id_token_keys_invalid', 'idTokenKeys', { reason })];
  })
  @IsString(reports('id_token_keys_invalid', { reason: 'empty' }))
  idTokenKeys: string;

  /** Default: the algorithm in rotation, otherwise RS256. */
  @IsIn(SIGNING_ALGORITHMS, reports('algorithm_unknown', { algorithms: SIGNING_ALGORITHMS }))
  @IsString()
  @MayBeAbsent()
  alg?: SigningAlgorithm;

  @IsBoolean()
  begin = false;
}

/** Reports and rotates the keys that sign tokens. Values of the variables are secret, and are never stored. */
@Injectable()
export class KeyService {
  constructor(
    private readonly tokenKeys: TokenKeyStore,
    private readonly announcer: Announcer,
    private readonly services: RunningServices,
  ) {}

  async list(): Promise<{ readonly list: KeyList; readonly warnings: readonly string[] }> {
    const { statuses: all, records, idTokenRecords, now, warnings } = await this.read();
    // A process that shuts down may have the keys from before a rollout, but it gets no new requests.
    const statuses = all.filter((status) => !isStopping(status));
    const { processes, keys, problems } = keyReport(statuses, records, now);
    const idTokenKeys = idTokenKeyReport(statuses, idTokenRecords, now);
    const list = {
      processes: processes.map(processName),
      keys: keys.map(keyUse),
      id_token_keys: idTokenKeys.map(({ alg, ...key }) => {
        const { id, ...use } = keyUse(key);
        return { id, alg, ...use };
      }),
      problems: [...problems, ...idTokenKeyProblems(idTokenKeys, now)].map((found) => ({
        ...found,
        remedy: describeRemedy(found.remedy) as string,
      })),
    };
    return { list, warnings };
  }

  /** Returns the next step, which the operator must apply. @throws UnsafeStepError */
  async nextTokenKeys(actor: Actor, input: Input<TokenKeyRotationDto>): Promise<Change<RotationStep>> {
    const { tokenKeys, begin } = validated(TokenKeyRotationDto, input);
    const state = await this.read();
    const newKey = () => randomBytes(32).toString('base64url');
    const step = nextStep({ tokenKeys, begin, ...state, newKey });
    return this.recorded(actor, step, { action: step.action, keys: step.keys }, state.warnings);
  }

  /** Returns the next step, which the operator must apply. @throws UnsafeStepError */
  async nextIdTokenKeys(actor: Actor, input: Input<IdTokenKeyRotationDto>): Promise<Change<IdTokenKeyStep>> {
    const { idTokenKeys, alg, begin } = validated(IdTokenKeyRotationDto, input);
    const { idTokenRecords: records, ...state } = await this.read();
    const ring = { records, idTokenKeys, alg, begin, newKey: generateSigningKey };
    const step = await nextIdTokenStep({ ...state, ...ring });
    const detail = { action: step.action, alg: step.alg, keys: step.keys };
    return this.recorded(actor, step, detail, state.warnings);
  }

  private recorded<Step>(
    actor: Actor,
    result: Step,
    detail: object,
    warnings: readonly string[],
  ): Change<Step> {
    const record = { type: 'operator.command', detail: { command: 'keys next', ...detail } } as const;
    return {
      result,
      announced: this.announcer.record(actor, record).then((others) => [...warnings, ...others]),
    };
  }

  private async read() {
    const [{ statuses, warnings }, records, idTokenRecords, now] = await Promise.all([
      askServices(this.services),
      this.tokenKeys.list(),
      this.tokenKeys.listIdTokenKeys(),
      this.tokenKeys.now(),
    ]);
    return { statuses, warnings, records, idTokenRecords, now };
  }
}

@Module({ providers: [KeyService], exports: [KeyService] })
export class KeyOperationsModule {}

function keyUse({ id, signsIn, verifiesIn, missingIn, record }: ReportedKey): KeyUse {
  return {
    id,
    signs_in: signsIn.map(processName),
    verifies_in: verifiesIn.map(processName),
    missing_in: missingIn.map(processName),
    first_seen_at: record?.firstSeenAt.toISOString() ?? null,
    last_signed_at: record?.lastSignedAt?.toISOString() ?? null,
    needed_until: record?.neededUntil?.toISOString() ?? null,
  };
}
