import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { LogoMediaType } from './client.js';

@Entity('client_logos')
export class ClientLogoEntity {
  @PrimaryColumn({ name: 'client_id', type: 'text' })
  clientId: string;

  /** Hexadecimal SHA-256 of the image: its address never shows another one, so that browsers may keep it. */
  @Column({ type: 'text' })
  digest: string;

  @Column({ name: 'media_type', type: 'text' })
  mediaType: LogoMediaType;

  /** Who reads clients needs the digest only. */
  @Column({ type: 'bytea', select: false })
  image: Buffer;
}
