import { Injectable } from '@nestjs/common';
import { Metrics } from '#platform/telemetry/metrics.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { ConsoleConfiguration } from '../console.configuration.js';

/**
 * Measures the number of admins, so that monitoring can report a new one. The login provider has the roles of groups.
 */
@Injectable()
export class AdminGauge {
  constructor(
    metrics: Metrics,
    operators: ConsoleOperatorStore,
    { CONSOLE_GROUPS_CLAIM }: ConsoleConfiguration,
  ) {
    if (CONSOLE_GROUPS_CLAIM !== '') return;
    // NaN if PostgreSQL does not answer, because an old value would hide the failure.
    metrics.measure('oauth_console_admins', 'Enabled users with the role admin in the console', () =>
      operators.countAdmins().catch(() => Number.NaN),
    );
  }
}
