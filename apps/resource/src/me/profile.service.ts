import { Injectable } from '@nestjs/common';
import { parseReply, SUBJECTS, tagOf } from '#messaging/contract.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { InvalidatedCache } from '#messaging/invalidated-cache.js';
import { countLookups, Metrics } from '#platform/telemetry/metrics.js';
import type { Profile } from './me.openapi.js';

const CACHED_MS = 30_000;
const CACHED_PROFILES = 10_000;

/** User profiles from a cache, or from the token app over NATS. */
@Injectable()
export class ProfileService {
  private readonly profiles: InvalidatedCache<Profile | null>;

  constructor(connection: NatsConnection, metrics: Metrics) {
    this.profiles = new InvalidatedCache<Profile | null>(connection, {
      max: CACHED_PROFILES,
      fetch: async (id, reference) => {
        const options = { reference, isRepeatable: true };
        const request = { user_id: Number(id) };
        const { user } = await connection.request(SUBJECTS.profile, request, parseReply.profile, options);
        return user as unknown as Profile | null;
      },
      tags: (_profile, id) => [tagOf.user(id)],
      ttl: (profile) => (profile ? CACHED_MS : 0),
    });
    this.profiles.observe(countLookups(metrics, 'profiles'));
  }

  /**
   * Returns null if the user does not exist, and a promise only if the profile is not cached.
   *
   * @param reference request id for logs
   * @throws DependencyUnavailableError
   */
  find(userId: number, reference: string): Profile | null | Promise<Profile | null> {
    const id = String(userId);
    return this.profiles.cached(id) ?? this.profiles.get(id, reference);
  }
}
