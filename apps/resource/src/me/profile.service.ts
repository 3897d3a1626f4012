import { Injectable } from '@nestjs/common';
import { parseReply, SUBJECTS, tagOf } from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { InvalidatedCache } from '#messaging/invalidated-cache.js';
import { countLookups, Metrics } from '#platform/telemetry/metrics.js';
import type { MeResponse, Profile } from './me.openapi.js';

const CACHED_MS = 30_000;
const CACHED_PROFILES = 10_000;

/** Caches profiles as serialized JSON, so that a request for a cached profile serializes nothing. */
@Injectable()
export class ProfileService {
  private readonly profiles: InvalidatedCache<string | null>;

  constructor(connection: NatsConnection, metrics: Metrics) {
    this.profiles = new InvalidatedCache<string | null>(connection.broadcasts, {
      max: CACHED_PROFILES,
      fetch: async (id, reference) => {
        const options = { reference, isRepeatable: true };
        const request = { user_id: Number(id) };
        const { user } = await connection.request(SUBJECTS.profile, request, parseReply.profile, options);
        return user && responseOf(user as unknown as Profile);
      },
      tags: (_profile, id) => [tagOf.user(id)],
      ttl: (profile) => (profile ? CACHED_MS : 0),
    });
    this.profiles.observe(countLookups(metrics, 'profiles'));
  }

  /**
   * @returns a serialized `MeResponse`, or null for an unknown user; a promise only if the profile is not cached
   * @throws DependencyUnavailableError
   */
  find(userId: number, reference: string): string | null | Promise<string | null> {
    const id = String(userId);
    return this.profiles.cached(id) ?? this.profiles.get(id, reference);
  }
}

function responseOf(data: Profile): string {
  return JSON.stringify({ status: 'success', data } satisfies MeResponse);
}
