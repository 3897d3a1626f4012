import { Injectable } from '@nestjs/common';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { type LogoutQueueStatus, StatusReport } from '#platform/status/status-report.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { LogoutConsumer } from './logout-consumer.js';

@Injectable()
export class LogoutQueueMonitor {
  private reading: Promise<LogoutQueueStatus> | undefined;

  constructor(
    private readonly consumer: LogoutConsumer,
    keys: SigningKeys,
    status: StatusReport,
    metrics: Metrics,
  ) {
    if (keys.isEmpty) return;
    status.register('logout_queue', () => this.read().catch((error: Error) => ({ problem: error.message })));
    metrics.measure('oauth_logout_queue_messages', 'Ends of sessions and logout tokens in the queue', () =>
      this.valueOf((queue) => queue.messages),
    );
    metrics.measure(
      'oauth_logout_queue_oldest_seconds',
      'Age of the oldest end of a session or logout token in the queue; 0 if it is empty',
      () =>
        this.valueOf(({ oldest }) =>
          oldest === null ? 0 : Math.max(0, Date.now() - Date.parse(oldest)) / 1000,
        ),
    );
  }

  /** Returns NaN if the queue cannot be read, because an old value would hide the failure. */
  private async valueOf(value: (queue: LogoutQueueStatus) => number): Promise<number> {
    return this.read().then(value, () => Number.NaN);
  }

  private read(): Promise<LogoutQueueStatus> {
    this.reading ??= this.consumer.queueState().finally(() => (this.reading = undefined));
    return this.reading;
  }
}
