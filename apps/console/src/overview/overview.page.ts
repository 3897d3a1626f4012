import type { Diagnosed } from '#administration/doctor/diagnose.js';
import type { RefusalOverview } from '#administration/overview/overview.service.js';
import type { UsageDay } from '#database/usage/usage.store.js';
import { html, type Html } from '#ui/html.js';
import { clientLink, referenceLink } from '../audit/event-text.js';
import { severityTag } from '../health/health.page.js';
import type { HealthState } from '../health/health-check.service.js';
import type { Job } from '../jobs/job.store.js';
import { stateTag, titleOf } from '../jobs/job.page.js';
import { problemBox, table, timeCell } from '../ui/components.js';
import type { Page } from '../ui/page.responder.js';
import { day, moment, t } from '../ui/text.js';

interface OverviewView {
  /** Text if the audit trail is unavailable. */
  readonly refusals: RefusalOverview | string;
  readonly usage: readonly UsageDay[];
  readonly health: HealthState;
  readonly jobs: readonly Job[];
}

const MAX_CAUSES = 10;
const MAX_ERRORS = 5;

export function overviewPage({ refusals, usage, health, jobs }: OverviewView): Page {
  return {
    title: t('Overview'),
    section: '/',
    content: html`
      <section>
        <h2>${t('Refused requests')}</h2>
        ${typeof refusals === 'string' ? problemBox([refusals]) : refusalSection(refusals)}
      </section>
      <section>
        <h2>${t('Usage')}</h2>
        ${usageSection(usage)}
      </section>
      <section>
        <h2>${t('Health')}</h2>
        ${healthSection(health)}
      </section>
      <section>
        <h2>${t('Running bulk actions')}</h2>
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
      ${t('Since {since}: {refused, plural, =0 {no request of an application was refused} one {one request of an application was refused} other {# requests of applications were refused}}.', { since: moment(since), refused })}
      ${logouts > 0 && t('{logouts, plural, one {One logout token was} other {# logout tokens were}} not accepted.', { logouts })}
    </p>
    ${
      groups.length > 0 &&
      html`${table(
        t('Causes, the most frequent first'),
        [{ title: t('Count'), isNumber: true }, t('Cause'), t('Latest (UTC)'), t('Latest reference')],
        groups
          .slice(0, MAX_CAUSES)
          .map(({ count, title, check, error, last, reference }) => [
            count,
            html`${title ?? check ?? error}<br />${cause(check, error, since)}`,
            timeCell(last),
            reference !== null && referenceLink(reference),
          ]),
      )}
      ${table(
        t('Applications with the most refusals'),
        [{ title: t('Count'), isNumber: true }, t('Application'), t('Causes')],
        applications.map(({ clientId, count }) => [
          count,
          clientLink(clientId, { clients: names }),
          html`<a href="/events?${new URLSearchParams({ client: clientId }).toString()}"
            >${t('What happened')}</a
          >`,
        ]),
      )}`
    }
  `;
}

/** Links a failed check to its events. */
function cause(check: string | null, error: string | null, since: string): Html {
  if (check === null) return html`<code>${error}</code>`;
  const query = new URLSearchParams({ check, since: since.slice(0, 16) });
  return html`<a href="/audit?${query.toString()}"><code>${check}</code></a>`;
}

function usageSection(days: readonly UsageDay[]): Html {
  const last = days.at(-1);
  if (!last)
    return html`<p class="quiet">
      ${t('The console counts live grants and active applications in its first minutes, and then every hour.')}
    </p>`;
  const counted = moment(last.countedAt);
  return html`
    <p>
      ${t('{grants, plural, one {One live grant} other {# live grants}}, and {clients, plural, one {one application that got tokens} other {# applications that got tokens}} on {day}. Counted {counted}.', { grants: last.liveGrants, clients: last.activeClients, day: day(last.day), counted })}
    </p>
    ${usageChart('live-grants', t('Live grants per day'), days, ({ liveGrants }) => liveGrants)}
    ${usageChart('active-applications', t('Active applications per day'), days, ({ activeClients }) => activeClients)}
    <details>
      <summary>${t('Numbers per day (UTC)')}</summary>
      ${table(
        t('Numbers per day (UTC)'),
        [
          t('Day'),
          { title: t('Live grants'), isNumber: true },
          { title: t('Active applications'), isNumber: true },
        ],
        days.toReversed().map((row) => [day(row.day), row.liveGrants, row.activeClients]),
      )}
    </details>
  `;
}

/** In units of the drawing, which is stretched to the width of the page. */
const [HEIGHT, COLUMN, GAP] = [100, 10, 2];

function usageChart(
  id: string,
  title: string,
  days: readonly UsageDay[],
  valueOf: (day: UsageDay) => number,
): Html {
  const highest = Math.max(...days.map(valueOf), 1);
  const bars = days.map((row, index) => {
    const height = (valueOf(row) / highest) * HEIGHT;
    return html`<rect
      class="issued"
      x="${index * COLUMN + GAP / 2}"
      y="${(HEIGHT - height).toFixed(2)}"
      width="${COLUMN - GAP}"
      height="${height.toFixed(2)}"
    />`;
  });
  const [first, last] = [days[0], days.at(-1)];
  return html`<figure>
    <figcaption>${title} <span class="quiet">${t('peak: {highest, number}', { highest })}</span></figcaption>
    <svg
      class="chart"
      role="img"
      aria-labelledby="${id}-title"
      viewBox="0 0 ${days.length * COLUMN} ${HEIGHT}"
      preserveAspectRatio="none"
    >
      <title id="${id}-title">${title}</title>
      ${bars}
    </svg>
    <p class="axis"><span>${first && day(first.day)}</span><span>${last && day(last.day)}</span></p>
  </figure>`;
}

function healthSection({ last, isRunning }: HealthState): Html {
  if (!last)
    return html`<p>
      ${isRunning ? t('A check is running.') : t('No check ran in the last seven days.')}
      <a href="/health">${t('Health')}</a>
    </p>`;
  const checked = t('Checked {time}.', { time: moment(new Date(last.at)) });
  if ('problem' in last.diagnosis)
    return html`${problemBox([last.diagnosis.problem])}
      <p>${checked}</p>`;
  const { findings } = last.diagnosis.value;
  const errors = findings.filter(({ severity }) => severity === 'error');
  const warnings = findings.filter(({ severity }) => severity === 'warning').length;
  return html`
    <p>
      ${t('{errors, plural, =0 {No error} one {One error} other {# errors}} and {warnings, plural, =0 {no warning} one {one warning} other {# warnings}}.', { errors: errors.length, warnings })}
      ${checked} <a href="/health">${t('All findings')}</a>
    </p>
    ${
      errors.length > 0 &&
      html`<ul>
        ${checksOf(errors)
          .slice(0, MAX_ERRORS)
          .map(
            ([{ severity, check, holds }, count]) =>
              html`<li>
                ${severityTag(severity)} <code>${check}</code> (${count}):
                ${t('expected: {holds}', { holds })}
              </li>`,
          )}
      </ul>`
    }
  `;
}

/** Returns a finding of each check with the number of its findings. */
function checksOf(findings: readonly Diagnosed[]): (readonly [Diagnosed, number])[] {
  const counts = new Map<string, readonly [Diagnosed, number]>();
  for (const finding of findings) {
    const [first, count] = counts.get(finding.check) ?? [finding, 0];
    counts.set(finding.check, [first, count + 1]);
  }
  return [...counts.values()];
}

function jobSection(jobs: readonly Job[]): Html {
  const open = jobs.filter(({ state }) => state === 'running' || state === 'interrupted');
  return html`${table(
      t('Running or interrupted, newest first'),
      [t('Action'), t('State'), { title: t('Done'), isNumber: true }, t('Operator'), t('Started (UTC)')],
      open.map((job) => [
        html`<a href="/jobs/${job.id}">${titleOf(job)}</a>`,
        stateTag(job),
        `${job.done} / ${job.total}`,
        html`<bdi>${job.operator}</bdi>`,
        timeCell(new Date(job.startedAt).toISOString()),
      ]),
      t('No bulk action is running.'),
    )}
    <p><a href="/jobs">${t('All bulk actions')}</a></p>`;
}
