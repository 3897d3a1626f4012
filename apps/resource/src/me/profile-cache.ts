import { Injectable } from '@nestjs/common';
import { type ProfileReply, type ProfileRequest, SUBJECTS } from '#introspection/contract.js';
import { tagOf, TokenServiceConnection } from '#platform/nats/nats.connection.js';
import { type Lookup, TrustedCache } from '#platform/nats/trusted-cache.js';
import type { Profile } from './profile.js';

const KEPT_MS = 30_000;
const KEPT_PROFILES = 10_000;

/** Users' profiles: from memory, else from the token app over NATS. */
@Injectable()
export class ProfileCache {
  private readonly profiles: TrustedCache<Profile | null>;

  constructor(connection: TokenServiceConnection) {
    this.profiles = new TrustedCache<Profile | null>(connection, {
      max: KEPT_PROFILES,
      fetch: async (id, reference) => {
        const request: ProfileRequest = { user_id: Number(id) };
        const { user } = await connection.request<ProfileReply>(SUBJECTS.profile, request, reference);
        return user as unknown as Profile | null;
      },
      tags: (_profile, id) => [tagOf.user(id)],
      ttl: (profile) => (profile ? KEPT_MS : 0),
    });
  }

  /** The profile, or null when there is no such user. @throws IntrospectionUnavailableError */
  find(userId: number, reference: string): Promise<Profile | null> {
    return this.profiles.get(String(userId), reference);
  }

  /** Tells how each look into the cache goes from now on, to be counted. */
  observe(observer: (lookup: Lookup) => void): void {
    this.profiles.observe(observer);
  }
}
