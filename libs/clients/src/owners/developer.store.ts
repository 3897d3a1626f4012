import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Injectable()
export class DeveloperStore {
  constructor(private readonly dataSource: DataSource) {}

  /** @returns id of the user of `asDeveloper`; null if the grant is not valid, or the user is disabled */
  async current(): Promise<number | null> {
    const [row] = await this.dataSource.query<{ id: number | null }[]>('SELECT current_developer() AS id');
    return row?.id ?? null;
  }
}
