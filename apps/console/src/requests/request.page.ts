import type { QueuedRequestView, ReviewedRequest } from '#clients/operations/requests/review.service.js';
import { describeFinding } from '#error-guide/request-findings.js';
import { type Locale, LOCALES } from '#oauth/locale.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import {
  button,
  codes,
  facts,
  hiddenFields,
  type Notices,
  notices,
  postForm,
  problemBox,
  table,
  timeCell,
} from '#pages/components.js';
import type { Form } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { moment, phrase } from '#pages/format.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import { pathOf } from '../applications/application.page.js';
import type { Operator } from '../operator.js';
import { mayActAs } from '../role.js';
import { languageName, lines } from '../ui/console-components.js';

export type Decision = 'approve' | 'ask' | 'reject';

const KINDS = { registration: 'New application', change: 'Change of a live application' } as const;

const STATES: Readonly<Record<ReviewedRequest['request']['status'], string>> = {
  draft: 'draft',
  submitted: 'waits for a review',
  question: 'waits for the owner',
  approved: 'approved',
  rejected: 'rejected',
  withdrawn: 'withdrawn',
};

export function requestsPage(
  { requests, count }: { readonly requests: readonly QueuedRequestView[]; readonly count: number },
  now: number,
): Page {
  return {
    title: 'Requests',
    section: '/requests',
    content: html`
      <p>${queueText(requests, count, now)}</p>
      ${table(
        'Requests, the oldest first',
        ['Application', 'Request', 'State', 'Submitted (UTC)', 'Age'],
        requests.map(({ id, name, kind, status, submitted_at: submitted }) => [
          html`<a href="/requests/${id}"><bdi>${name}</bdi></a>`,
          KINDS[kind],
          STATES[status],
          timeCell(submitted),
          ageOf(submitted, now),
        ]),
        'No request is open.',
      )}
      ${requests.length < count && html`<p>The list shows the oldest ${requests.length} requests.</p>`}
    `,
  };
}

export function queueText(requests: readonly QueuedRequestView[], count: number, now: number): string {
  const [oldest] = requests;
  return phrase(
    '{count, plural, =0 {No request is open.} one {One request is open.} other {# requests are open.}}{age, select, none {} other { The oldest one was submitted {age} ago.}}',
    { count, age: oldest ? ageOf(oldest.submitted_at, now) : 'none' },
  );
}

function ageOf(time: string, now: number): string {
  const hours = Math.max(0, Math.floor((now - Date.parse(time)) / 3_600_000));
  return hours < 48
    ? phrase('{hours, plural, =0 {less than an hour} one {one hour} other {# hours}}', { hours })
    : phrase('{days, plural, other {# days}}', { days: Math.floor(hours / 24) });
}

interface RequestPageView {
  readonly operator: Operator;
  readonly reviewed: ReviewedRequest;
  readonly scopes: ScopeCatalogue;
  readonly now: number;
  readonly changed: Notices;
  readonly status: number;
}

/** Shows texts and addresses of the request as text. The browser loads nothing from them. */
export function requestPage({ operator, reviewed, scopes, now, changed, status }: RequestPageView): Page {
  const { request, owners, current } = reviewed;
  const { client_id: clientId } = request;
  const content = contentOf(reviewed);
  const name = textOf(content['name'] ?? current['name']);
  const isOpen = request.status === 'submitted' || request.status === 'question';
  return {
    title: name,
    status,
    section: '/requests',
    heading: html`<bdi>${name}</bdi> <span class="tag">${STATES[request.status]}</span>`,
    content: html`
      ${notices(changed)} ${isOpen && actions(operator, request)}
      ${facts([
        ['Request', KINDS[request.kind]],
        [
          'Application',
          clientId !== null && html`<a href="${pathOf(clientId)}"><code>${clientId}</code></a>`,
        ],
        [
          'Submitted',
          request.submitted_at &&
            phrase('{time} ({age} ago)', {
              time: moment(request.submitted_at),
              age: ageOf(request.submitted_at, now),
            }),
        ],
        [
          'Owners',
          html`${owners.map(({ user_id: user, username, email }) => html`<a href="/users/${user}"><bdi>${username}</bdi></a> (<bdi>${email}</bdi>)<br />`)}`,
        ],
        ['Kind of application', textOf(content['application'])],
        [
          request.kind === 'change' ? 'Reason' : 'Purpose',
          html`<bdi>${lines(textOf(content['purpose']))}</bdi>`,
        ],
        ['Terms of service', textOf(content['termsUri'])],
      ])}
      ${checks(reviewed)} ${scopeTable(reviewed, scopes)} ${registration(reviewed)} ${logos(reviewed)}
      ${clientId !== null && previews(clientId)} ${conversation(reviewed)}
    `,
  };
}

function actions({ role }: Operator, { id, version }: ReviewedRequest['request']): Html {
  const isAdmin = mayActAs(role, 'admin');
  const path = (decision: Decision) => `/requests/${id}/${decision}?version=${version}`;
  return html`<div class="actions">
    ${isAdmin && html`<a class="button" href="${path('approve')}">Approve</a>`}
    ${mayActAs(role, 'support') && html`<a class="button even" href="${path('ask')}">Ask the owner</a>`}
    ${isAdmin && html`<a class="button danger" href="${path('reject')}">Reject</a>`}
  </div>`;
}

function checks({ findings }: ReviewedRequest): Html {
  return html`<section>
    <h2>Checks</h2>
    ${
      findings.length === 0
        ? html`<p>No check found anything unusual.</p>`
        : html`<ul>
            ${findings.map((finding) => html`<li>${describeFinding(finding)}</li>`)}
          </ul>`
    }
  </section>`;
}

function scopeTable(reviewed: ReviewedRequest, catalogue: ScopeCatalogue): Html {
  const { current, changes, findings } = reviewed;
  const notOffered = findings.flatMap(({ id, values }) => (id === 'scope_not_offered' ? [values.scope] : []));
  const reasons = (contentOf(reviewed)['reasons'] ?? {}) as Readonly<Record<string, unknown>>;
  const wanted = (changes['scopes'] as { readonly new?: unknown } | undefined)?.new ?? current['scopes'];
  return html`<section>
    <h2>Scopes</h2>
    ${table(
      'Requested scopes',
      ['Scope', 'Text for users', 'Reason of the owner'],
      listOf(wanted).map((scope) => [
        html`<code>${scope}</code>`,
        notOffered.includes(scope)
          ? html`<strong>no longer offered</strong>`
          : (catalogue.find(scope)?.texts.en ?? ''),
        html`<bdi>${lines(textOf(reasons[scope]))}</bdi>`,
      ]),
    )}
  </section>`;
}

/** Lists the registration as it is, with what the approval would change; after the decision, what was requested. */
function registration(reviewed: ReviewedRequest): Html {
  const { kind, status } = reviewed.request;
  if (status !== 'submitted' && status !== 'question') return requested(reviewed);
  const { current, changes } = reviewed;
  const names =
    kind === 'change'
      ? Object.keys(changes)
      : [...new Set([...Object.keys(current), ...Object.keys(changes)])];
  const rows = names.filter((name) => name in changes || !isEmpty(current[name]));
  return html`<section>
    <h2>${kind === 'change' ? 'Changes' : 'Registration'}</h2>
    ${table(
      kind === 'change' ? 'What the approval changes' : 'What the approval makes live',
      ['Field', 'Now', 'After the approval'],
      rows.map((name) => {
        const change = changes[name] as { readonly new?: unknown } | undefined;
        return [
          html`<code>${name}</code>`,
          valueOf(current[name]),
          change ? html`<strong>${valueOf(name === 'stage' ? 'live' : change.new)}</strong>` : 'the same',
        ];
      }),
    )}
  </section>`;
}

/** Fields of a request that other parts of the page show. */
const SHOWN_ELSEWHERE: readonly string[] = ['purpose', 'reasons', 'application', 'termsUri', 'logo'];

function requested(reviewed: ReviewedRequest): Html {
  return html`<section>
    <h2>Request</h2>
    ${table(
      'What was requested',
      ['Field', 'Value'],
      Object.entries(contentOf(reviewed))
        .filter(([name, value]) => !SHOWN_ELSEWHERE.includes(name) && !isEmpty(value))
        .map(([name, value]) => [html`<code>${name}</code>`, valueOf(value)]),
    )}
  </section>`;
}

/** The images are copies, which were decoded when the owner uploaded them. */
function logos(reviewed: ReviewedRequest): Html | false {
  const { request, current } = reviewed;
  const { id, kind, client_id: clientId } = request;
  const digest = textOf(current['logo']);
  const isProposed = kind === 'change' && typeof contentOf(reviewed)['logo'] === 'string';
  if ((digest === '' || clientId === null) && !isProposed) return false;
  const image = (path: string, name: string) =>
    html`<figure>
      <figcaption>${name}</figcaption>
      <img class="face" src="${path}" alt="${name}" width="48" height="48" />
    </figure>`;
  return html`<section>
    <h2>Logo</h2>
    ${digest !== '' && clientId !== null && image(pathOf(clientId, `logo/image?${digest.slice(0, 16)}`), 'Current logo')}
    ${isProposed && image(`/requests/${id}/logo`, 'Proposed logo')}
  </section>`;
}

function previews(clientId: string): Html {
  const link = (locale: Locale) =>
    html`<li>
      <a href="${pathOf(clientId, `consent?language=${locale}`)}">${languageName(locale)}</a>
    </li>`;
  return html`<section>
    <h2>Consent page</h2>
    <ul class="plain actions">
      ${LOCALES.map(link)}
    </ul>
  </section>`;
}

function conversation({ messages }: ReviewedRequest): Html | false {
  if (messages.length === 0) return false;
  return html`<section>
    <h2>Messages</h2>
    ${messages.map(
      ({ at, author, name, text }) =>
        html`<article>
          <p class="quiet"><bdi>${name}</bdi> (${author}), ${moment(at)}</p>
          <p><bdi>${lines(text)}</bdi></p>
        </article>`,
    )}
  </section>`;
}

const DECISIONS: Readonly<
  Record<
    Decision,
    {
      readonly title: string;
      readonly text: string;
      readonly label: string;
      readonly button: string;
      readonly look: '' | 'danger';
    }
  >
> = {
  approve: {
    title: 'Approve the request?',
    text: 'A new application becomes live with the same client ID and secrets, so that every user can use it. A live application is changed.',
    label: 'Message to the owner (optional)',
    button: 'Approve',
    look: '',
  },
  ask: {
    title: 'Ask the owner',
    text: 'The owner reads the question in the developer portal. The request then waits for the answer.',
    label: 'Question',
    button: 'Send',
    look: '',
  },
  reject: {
    title: 'Reject the request?',
    text: 'A new application is disabled, and its owner can request it again. A live application stays as it is.',
    label: 'Message to the owner',
    button: 'Reject',
    look: 'danger',
  },
};

interface DecisionPageView {
  readonly operator: Operator;
  readonly reviewed: ReviewedRequest;
  readonly decision: Decision;
  readonly form: Form;
  readonly problems?: readonly string[];
}

export function decisionPage({ operator, reviewed, decision, form, problems = [] }: DecisionPageView): Page {
  const { id, version } = reviewed.request;
  const { title, text, label, button: send, look } = DECISIONS[decision];
  return {
    title,
    status: problems.length > 0 ? 400 : 200,
    section: '/requests',
    content: html`
      ${problemBox(problems)}
      <p><bdi>${textOf(contentOf(reviewed)['name'] ?? reviewed.current['name'])}</bdi></p>
      <p>${text}</p>
      ${postForm(
        operator,
        `/requests/${id}/${decision}`,
        html`${hiddenFields([['version', form.text('version') || String(version)]])}
          ${textArea(label, form.get('text') ?? '', decision !== 'approve')}
          <div class="actions">
            ${button(send, look)} <a class="button even" href="/requests/${id}">Cancel</a>
          </div>`,
      )}
    `,
  };
}

function textArea(label: string, value: string, required: boolean): Html {
  return html`<div>
    <label for="text">${label}</label>
    <textarea id="text" name="text" rows="6" maxlength="2000" ${required && html`required`}>
${value}</textarea>
  </div>`;
}

/** Returns the content that the owner wrote, which may have any fields. */
function contentOf({ request }: ReviewedRequest): Readonly<Record<string, unknown>> {
  return request.content as Readonly<Record<string, unknown>>;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

function valueOf(value: unknown): Fragment {
  if (isEmpty(value)) return '–';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return codes(value);
  return html`<bdi>${typeof value === 'string' ? value : JSON.stringify(value)}</bdi>`;
}
