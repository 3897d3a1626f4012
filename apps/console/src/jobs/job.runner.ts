import { randomUUID } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { failureText } from '#operations/failure-text.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';
import { OperatorRoles } from '../session/operator-sessions.service.js';
import { type ActionName, JOB_ROLE, JobActions } from './job-actions.js';
import { JobStore, LEASE_MS, type StepOutcome } from './job.store.js';

@Injectable()
export class JobRunner implements BeforeApplicationShutdown {
  private readonly logger = new Logger(JobRunner.name);
  private readonly running = new Set<Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly jobs: JobStore,
    private readonly actions: JobActions,
    private readonly roles: OperatorRoles,
  ) {}

  /** Stops after the running steps. An operator can continue the jobs in another process. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  /** Starts the job unless it is finished or a process is working on it. Resolves before the job ends. */
  async start(id: string, action: ActionName, operator: Operator): Promise<void> {
    const owner = randomUUID();
    if (!(await this.jobs.claim(id, owner, operator.name))) return;
    const work = this.work(id, owner, action, operator).catch((error: unknown) => {
      // The page offers to continue the job after the lease was released or has expired.
      this.logger.error(error);
    });
    this.running.add(work);
    void work.finally(() => this.running.delete(work));
  }

  private async work(id: string, owner: string, action: ActionName, operator: Operator): Promise<void> {
    const renewal = setInterval(() => {
      this.jobs.next(id, owner).catch(() => undefined);
    }, LEASE_MS / 3).unref();
    let isRefused = false;
    try {
      while (!this.isStopping && !isRefused) {
        const item = await this.jobs.next(id, owner);
        if (item === null) return;
        const role = await this.roles.current(operator.identity);
        if (role === null || role === 'ended' || !mayActAs(role, JOB_ROLE)) isRefused = true;
        else await this.jobs.advance(id, owner, item, await this.step(action, { ...operator, role }, item));
      }
    } finally {
      clearInterval(renewal);
      await this.jobs.leave(id, owner, isRefused ? 'refused' : null);
    }
  }

  /** Records a refused item and continues. Any other error, such as an unavailable database, interrupts the job. */
  private async step(action: ActionName, operator: Operator, item: string): Promise<StepOutcome> {
    try {
      return { ...(await this.actions.step(action, operator, item)), failure: null };
    } catch (error) {
      if (!(error instanceof AdministrationError)) throw error;
      return { done: 0, more: false, failure: failureText(error), warnings: error.warnings };
    }
  }
}
