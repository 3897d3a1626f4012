import { type AnsweredStatus, askServices as ask } from '#administration/running-services/status.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { warn } from '../command-line/output.js';

export type { AnsweredStatus };

export async function runningServices(natsUrl: string): Promise<ServiceStatus[]> {
  return (await askServices(natsUrl)).map(({ status }) => status);
}

export async function askServices(natsUrl: string): Promise<AnsweredStatus[]> {
  const { answers, warnings } = await ask(natsUrl);
  for (const warning of warnings) warn(warning);
  return [...answers];
}
