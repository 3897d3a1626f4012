import type { RefusalGroup } from '#audit/operations/explain/refusal-summary.js';
import type { RefusalOverview } from '#audit/operations/overview.service.js';
import type { UsageDay } from '#grants/usage/usage.store.js';
import { html, type Html } from '#ui/html.js';
import { clientLink } from '../audit/event-text.js';
import { byCheck, severityTag } from '../health/health.page.js';
import type { HealthState } from '../health/health-check.service.js';
import type { Job } from '../jobs/job.store.js';
import { stateTag, titleOf } from '../jobs/job.page.js';
import { numbers, problemBox, table, timeCell } from '#pages/components.js';
import { referenceLink, refusalCause } from '../ui/console-components.js';
import type { Page } from '#pages/page.responder.js';
import { day, moment, phrase } from '#pages/format.js';
import { columnChart } from '#pages/column-chart.js';
import { peak } from '../ui/charts.js';

interface OverviewView {
  /** Text if the audit trail is unavailable. */
  readonly refusals: RefusalOverview | string;
  readonly usage: readonly UsageDay[];
  readonly health: HealthState;
  readonly jobs: readonly Job[];
  /** Number and age of the open requests. */
  readonly requests: string;
}

const MAX_CAUSES = 10;
const MAX_ERRORS = 5;

export function overviewPage({ refusals, usage, health, jobs, requests }: OverviewView): Page {
  return {
    title: 'Overview',
    section: '/',
    content: html`
      <section>
        <h2>Refused requests</h2>
        ${typeof refusals === 'string' ? problemBox([refusals]) : refusalSection(refusals)}
      </section>
      <section>
        <h2>Requests of application owners</h2>
        <p>${requests} <a href="/requests">All open requests</a></p>
      </section>
      <section>
        <h2>Usage</h2>
        ${usageSection(usage)}
      </section>
      <section>
        <h2>Health</h2>
        ${healthSection(health)}
      </section>
      <section>
        <h2>Running bulk actions</h2>
        ${jobSection(jobs)}
      </section>
    `,
  };
}

function refusalSection({ since, refused, logouts, groups, applications, warnings }: RefusalOverview): Html {
  const names = new Map(
    applications.flatMap(({ clientId, name }) => (name === null ? [] : [[clientId, name]])),
  );
  return html`
    ${problemBox(warnings)}
    <p>
      ${phrase('Since {since}: {refused, plural, =0 {no request of an application was refused} one {one request of an application was refused} other {# requests of applications were refused}}.', { since: moment(since), refused })}
      ${logouts > 0 && phrase('{logouts, plural, one {One logout token was} other {# logout tokens were}} not accepted.', { logouts })}
    </p>
    ${
      groups.length > 0 &&
      html`${table(
        'Causes, the most frequent first',
        [{ title: 'Count', isNumber: true }, 'Cause', 'Latest (UTC)', 'Latest reference'],
        groups
          .slice(0, MAX_CAUSES)
          .map(({ count, last, reference, ...group }) => [
            count,
            refusalCause(group, cause(group, since)),
            timeCell(last),
            reference !== null && referenceLink(reference),
          ]),
      )}
      ${table(
        'Applications with the most refusals',
        [{ title: 'Count', isNumber: true }, 'Application', 'Causes'],
        applications.map(({ clientId, count }) => [
          count,
          clientLink(clientId, { clients: names }),
          html`<a href="/events?${new URLSearchParams({ client: clientId }).toString()}">What happened</a>`,
        ]),
      )}`
    }
  `;
}

/** Links a failed check to its events. */
function cause({ check, error }: Pick<RefusalGroup, 'check' | 'error'>, since: string): Html {
  if (check === null) return html`<code>${error}</code>`;
  const query = new URLSearchParams({ check, since: since.slice(0, 16) });
  return html`<a href="/audit?${query.toString()}"><code>${check}</code></a>`;
}

function usageSection(days: readonly UsageDay[]): Html {
  const last = days.at(-1);
  if (!last)
    return html`<p class="quiet">
      The console counts live grants and active applications in its first minutes, and then every hour.
    </p>`;
  const counted = moment(last.countedAt);
  return html`
    <p>
      ${phrase('{grants, plural, one {One live grant} other {# live grants}}, and {clients, plural, one {one application that got tokens} other {# applications that got tokens}} on {day}. Counted {counted}.', { grants: last.liveGrants, clients: last.activeClients, day: day(last.day), counted })}
    </p>
    ${usageChart('live-grants', 'Live grants per day', days, ({ liveGrants }) => liveGrants)}
    ${usageChart('active-applications', 'Active applications per day', days, ({ activeClients }) => activeClients)}
    ${numbers(
      'Numbers per day (UTC)',
      ['Day', { title: 'Live grants', isNumber: true }, { title: 'Active applications', isNumber: true }],
      days.toReversed().map((row) => [day(row.day), row.liveGrants, row.activeClients]),
    )}
  `;
}

function usageChart(
  id: string,
  title: string,
  days: readonly UsageDay[],
  valueOf: (day: UsageDay) => number,
): Html {
  return columnChart({
    id,
    title,
    description: 'One column for each row of the table below.',
    peak,
    columns: days.map((row) => ({ name: day(row.day), bars: [{ look: 'issued', count: valueOf(row) }] })),
  });
}

function healthSection({ last, isRunning }: HealthState): Html {
  if (!last)
    return html`<p>
      ${isRunning ? 'A check is running.' : 'No check ran in the last seven days.'}
      <a href="/health">Health</a>
    </p>`;
  const checked = phrase('Checked {time}.', { time: moment(new Date(last.at)) });
  if ('problem' in last.diagnosis)
    return html`${problemBox([last.diagnosis.problem])}
      <p>${checked}</p>`;
  const { findings } = last.diagnosis.value;
  const errors = findings.filter(({ severity }) => severity === 'error');
  const warnings = findings.filter(({ severity }) => severity === 'warning').length;
  return html`
    <p>
      ${phrase('{errors, plural, =0 {No error} one {One error} other {# errors}} and {warnings, plural, =0 {no warning} one {one warning} other {# warnings}}.', { errors: errors.length, warnings })}
      ${checked} <a href="/health">All findings</a>
    </p>
    ${
      errors.length > 0 &&
      html`<ul>
        ${byCheck(errors)
          .slice(0, MAX_ERRORS)
          .map(
            ([{ severity, check, holds }, ...others]) =>
              html`<li>
                ${severityTag(severity)} <code>${check}</code> (${others.length + 1}):
                ${phrase('expected: {holds}', { holds })}
              </li>`,
          )}
      </ul>`
    }
  `;
}

function jobSection(jobs: readonly Job[]): Html {
  const open = jobs.filter(({ state }) => state === 'running' || state === 'interrupted');
  return html`${table(
      'Running or interrupted, newest first',
      ['Action', 'State', { title: 'Done', isNumber: true }, 'Operator', 'Started (UTC)'],
      open.map((job) => [
        html`<a href="/jobs/${job.id}">${titleOf(job)}</a>`,
        stateTag(job),
        `${job.done} / ${job.total}`,
        html`<bdi>${job.operator}</bdi>`,
        timeCell(new Date(job.startedAt).toISOString()),
      ]),
      'No bulk action is running.',
    )}
    <p><a href="/jobs">All bulk actions</a></p>`;
}
