import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Whether the directory answers, for readiness probes. */
@Injectable()
export class DirectoryHealthStore {
  constructor(private readonly dataSource: DataSource) {}

  /** One round trip. Rejects with the driver's error when the database does not answer in time. */
  async ping(): Promise<void> {
    await this.dataSource.query('SELECT 1');
  }
}
