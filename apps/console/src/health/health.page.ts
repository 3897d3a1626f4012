import type { Diagnosed, Diagnosis } from '#diagnosis/diagnose.js';
import type { Severity } from '#diagnosis/finding.js';
import type { KeyList } from '#keys/operations/key.service.js';
import type { ServiceStatus, Settings } from '#platform/status/status-report.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import { pathOf } from '../applications/application.page.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';
import { button, facts, noteBox, postForm, problemBox, table } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { commandWithPage } from '../ui/remedy.js';
import { moment, phrase } from '#pages/format.js';
import type { HealthState, Part } from './health-check.service.js';

export function healthPage(operator: Operator, { last, isRunning }: HealthState): Page {
  return {
    title: 'Health',
    section: '/health',
    content: html`
      ${isRunning && noteBox(html`A check is running. It takes a few seconds. <a href="/health">Show the result</a>`)}
      <div class="actions">
        ${!isRunning && postForm(operator, '/health', button('Check now'), '')}
        ${mayActAs(operator.role, 'admin') && html`<a class="button even" href="/health/keys">Rotate keys</a>`}
      </div>
      <p>
        ${last ? html`${phrase('Checked {time} by', { time: moment(new Date(last.at)) })} <bdi>${last.by}</bdi>.` : 'No check ran in the last seven days.'}
      </p>
      ${
        last &&
        html`
          <section>
            <h2>Findings</h2>
            ${part(last.diagnosis, (diagnosis) => findings(operator, diagnosis))}
          </section>
          <section>
            <h2>Processes</h2>
            ${part(last.processes, processes)}
          </section>
          <section>
            <h2>Keys</h2>
            ${part(last.keys, keys)}
          </section>
        `
      }
    `,
  };
}

function part<Value>(checked: Part<Value>, show: (value: Value) => Html): Html | false {
  return 'value' in checked ? show(checked.value) : problemBox([checked.problem]);
}

const SEVERITY: Readonly<Record<Severity, string>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
};

function findings(operator: Operator, { findings: all, holding, notChecked }: Diagnosis): Html {
  return html`
    <p>
      ${phrase('{count, plural, one {One check passed} other {# checks passed}}.', { count: holding.length })}
    </p>
    ${
      notChecked.length > 0 &&
      html`<details>
        <summary>
          ${phrase('{count, plural, one {One check} other {# checks}} could not run', { count: notChecked.length })}
        </summary>
        ${facts(notChecked.map(({ check, reason }) => [check, reason]))}
      </details>`
    }
    ${table(
      'Findings, the most severe first',
      ['Severity', 'Subject', 'Finding', 'Remedy'],
      byCheck(all).map(([first, ...others]) => [
        severityTag(first.severity),
        others.length === 0
          ? html`<span class="wraps">${subjectOf(first)}</span>`
          : phrase('{count, number} findings', { count: others.length + 1 }),
        html`${others.length === 0 ? first.problem : phrase('Expected: {holds}', { holds: first.holds })}<br /><code
            >${first.check}</code
          >`,
        others.length === 0
          ? html`<div class="prose">${remedyOf(operator, first)}</div>`
          : each(operator, [first, ...others]),
      ]),
      'No check found a problem.',
    )}
  `;
}

type Group = [Diagnosed, ...Diagnosed[]];

/** Groups the findings of a check, because the same mistake in many clients would fill the page. */
export function byCheck(findings: readonly Diagnosed[]): Group[] {
  const groups = new Map<string, Group>();
  for (const finding of findings) {
    const group = groups.get(finding.check);
    if (group) group.push(finding);
    else groups.set(finding.check, [finding]);
  }
  return [...groups.values()];
}

function each(operator: Operator, group: Group): Html {
  return html`<details>
    <summary>Subjects and remedies</summary>
    <dl>
      ${group.map(
        (finding) =>
          html`<dt>${subjectOf(finding)}</dt>
            <dd>${finding.problem}. <span class="quiet">${remedyOf(operator, finding)}</span></dd>`,
      )}
    </dl>
  </details>`;
}

function subjectOf({ subject, clientId }: Diagnosed): Fragment {
  return clientId === undefined ? subject : html`<a href="${pathOf(clientId)}">${subject}</a>`;
}

export function severityTag(severity: Severity): Html {
  return html`<span class="${severity === 'info' ? 'tag' : 'tag bad'}">${SEVERITY[severity]}</span>`;
}

function remedyOf(operator: Operator, { remedy }: Diagnosed): Fragment {
  if (typeof remedy === 'string') return remedy;
  return remedy.map(({ text, command: words }) => html`${text}: ${commandWithPage(operator, words)}`);
}

function processes(statuses: readonly ServiceStatus[]): Html {
  return html`${table(
    'Processes that responded. Compare them with your deployment.',
    ['Service', 'Instance', 'Version', 'Since', 'Settings that differ', 'Dependencies'],
    statuses.map((status) => [
      status.service,
      html`<code>${status.instance}</code>`,
      status.version,
      moment(status.started_at),
      html`${differing(status, statuses).map((text) => html`<code>${text}</code><br />`)}`,
      html`${dependencies(status).map((text) => html`${text}<br />`)}`,
    ]),
  )}`;
}

function differing({ settings = {} }: ServiceStatus, all: readonly ServiceStatus[]): string[] {
  const isElsewhere = (name: string, value: Settings[string]) =>
    all.some(({ settings: others = {} }) => name in others && others[name] !== value);
  return Object.entries(settings)
    .filter(([name, value]) => isElsewhere(name, value))
    .map(([name, value]) => `${name}=${value}`);
}

function dependencies({ redis, audit }: ServiceStatus): string[] {
  const buffer = (name: string, state: { waiting: number; dropped: number }) =>
    phrase('{name}: {waiting} waiting, {dropped} lost', { name, ...state });
  return [
    ...(redis ? [phrase('Redis {version}, {role}', { version: redis.version, role: redis.role })] : []),
    ...(audit ? [buffer('audit events', audit)] : []),
  ];
}

function keys({ keys: tokens, id_token_keys: idTokens, problems }: KeyList): Html {
  const time = (at: string | null) => (at === null ? 'never' : moment(at));
  return html`
    ${problemBox(problems.map(({ message, remedy: action }) => `${message}: ${action}`))}
    ${table(
      'Token keys and ID token keys',
      ['Key', 'Signs at', 'Verifies at', 'Missing at', 'Last signature', 'Needed until'],
      [...tokens.map((key) => ({ ...key, alg: '' })), ...idTokens].map((key) => [
        html`<code>${key.id}</code> ${key.alg}`,
        key.signs_in.join(', '),
        key.verifies_in.join(', '),
        key.missing_in.join(', '),
        time(key.last_signed_at),
        key.needed_until === null ? '' : moment(key.needed_until),
      ]),
    )}
  `;
}
