import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Controller, Injectable } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import type { EventStream } from '#events/event-stream.store.js';
import { KeyRing } from '#keys/key-ring.js';
import { type SealHeaderReply, type SealHeaderRequest, SUBJECTS } from '#messaging/contract.js';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Stream whose header is encrypted. */
type SealedFor = Pick<EventStream, 'clientId' | 'endpointUrl'>;

/** Encrypts the header by which a receiver recognizes the service, because the database must not reveal credentials. */
@Injectable()
export class HeaderSeal {
  constructor(private readonly keys: KeyRing) {}

  /** @param stream binds the header to its client and address */
  seal(header: string, stream: SealedFor): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.keys.signingKeyFor('receiver'), iv);
    cipher.setAAD(boundTo(stream));
    const text = Buffer.concat([cipher.update(header, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]);
  }

  /** Returns null if no key of the ring has encrypted the header for this stream. */
  open(sealed: Buffer, stream: SealedFor): string | null {
    const iv = sealed.subarray(0, IV_BYTES);
    const tag = sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
    const text = sealed.subarray(IV_BYTES + TAG_BYTES);
    for (const key of this.keys.keysFor('receiver')) {
      try {
        const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
        decipher.setAAD(boundTo(stream)).setAuthTag(tag);
        return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
      } catch {
        continue;
      }
    }
    return null;
  }
}

function boundTo({ clientId, endpointUrl }: SealedFor): Buffer {
  return Buffer.from(JSON.stringify([clientId, endpointUrl]));
}

/** Encrypts headers for operators, whose processes do not have the key. */
@Controller()
export class HeaderResponder {
  constructor(private readonly seal: HeaderSeal) {}

  @MessagePattern(SUBJECTS.sealHeader)
  sealHeader(@Payload() { header, ...stream }: SealHeaderRequest): SealHeaderReply {
    const sealed = this.seal.seal(header, { clientId: stream.client_id, endpointUrl: stream.endpoint_url });
    return { sealed: sealed.toString('base64') };
  }
}
