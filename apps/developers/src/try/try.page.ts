import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { button, facts, noteBox, postForm, problemBox, selectField, textField } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import { REFUSED } from '../activity/activity.page.js';
import type { Origins } from '../applications/request-examples.js';
import { translatedCause } from '../ui/causes.js';
import { backLink, inEnglish, pathOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';
import { type Exchange, type Finding, type Flow, flowUrl, isTriable, type Step } from './flow.js';

export interface TryView extends Viewer {
  readonly client: OwnedClient;
  readonly flow: Flow | null;
  readonly origins: Origins;
}

export function tryPage(view: TryView): Page {
  const { translator, client, flow } = view;
  const { tokens = null, returned } = flow ?? {};
  const isConfidential = client.type === 'confidential';
  return {
    title: translator.text('try.title'),
    section: '/',
    content: html`
      ${backLink(client)}
      ${
        isTriable(client)
          ? html`<p>${translator.text('try.intro')}</p>
              ${startStep(view)} ${returnStep(view)}
              ${step(view, 'exchange', (returned?.code ?? null) !== null, isConfidential)}
              ${step(view, 'call', tokens !== null, false)}
              ${step(view, 'refresh', (tokens?.refresh ?? null) !== null, isConfidential)}
              ${step(view, 'revoke', tokens !== null, isConfidential)}`
          : html`<p>${translator.text('try.impossible')}</p>
              <p>
                <a href="${pathOf(client.clientId, 'integrate')}">${translator.text('app.integrate')}</a>
              </p>`
      }
    `,
  };
}

/** Link that opens the authorization request, and its parameters. */
function startStep({ translator, developer, client, flow, origins }: TryView): Html {
  const { clientId, redirectUris, scopes } = client;
  const url = flow && flowUrl(origins, clientId, flow);
  return html`<section id="start">
    <h2>${translator.text('try.start')}</h2>
    ${
      url &&
      html`<p>
          <a class="button" href="${url.href}" target="_blank" rel="noopener noreferrer"
            >${translator.text('try.open')}</a
          >
        </p>
        ${facts([...url.searchParams].map(([name, value]) => [html`<code>${name}</code>`, html`<code>${value}</code>`]))}`
    }
    ${postForm(
      developer,
      pathOf(clientId, 'try'),
      html`${selectField(
        {
          name: 'redirect_uri',
          label: translator.text('field.redirect_uris'),
          value: flow?.redirectUri ?? '',
        },
        redirectUris.map((uri) => ({ value: uri, text: uri })),
      )}
      ${textField({ name: 'scope', label: translator.text('field.scopes'), value: flow?.scope ?? scopes.join(' ') })}
      ${button(translator.text(flow ? 'try.again' : 'try.create'), flow ? 'even' : '')}`,
    )}
  </section>`;
}

function returnStep({ translator, developer, client, flow }: TryView): Html {
  const returned = flow?.returned;
  const problem = returned?.problem ?? null;
  return html`<section id="return">
    <h2>${translator.text('try.return')}</h2>
    ${problem !== null && problemBox([translator.text(`try.problem_${problem}`)])}
    ${returned?.finding && finding({ translator, client }, returned.finding)}
    ${(returned?.code ?? null) !== null && noteBox(translator.text('try.returned'))}
    ${
      flow
        ? postForm(
            developer,
            pathOf(client.clientId, 'try', 'return'),
            html`${textField({
              name: 'address',
              label: translator.text('try.address'),
              hint: translator.text('try.address_hint'),
              value: '',
              required: true,
            })}
            ${button(translator.text('try.check'), (returned?.code ?? null) === null ? '' : 'even')}`,
          )
        : html`<p class="quiet">${translator.text('try.later')}</p>`
    }
  </section>`;
}

function step(view: TryView, name: Step, isPossible: boolean, needsSecret: boolean): Html {
  const { translator, developer, client, flow } = view;
  const done = flow?.exchanges?.[name];
  return html`<section id="${name}">
    <h2>${translator.text(`try.${name}`)}</h2>
    ${done && exchange(view, done)}
    ${
      isPossible
        ? postForm(
            developer,
            pathOf(client.clientId, 'try', name),
            html`${
              needsSecret &&
              html`<div>
                <label for="secret-${name}">${translator.text('field.secret')}</label>
                <p class="hint" id="secret-${name}-hint">${translator.text('try.secret_hint')}</p>
                <input
                  id="secret-${name}"
                  name="client_secret"
                  type="password"
                  required
                  autocomplete="off"
                  aria-describedby="secret-${name}-hint"
                />
              </div>`
            }
            ${button(translator.text('try.send'), done ? 'even' : '')}`,
          )
        : !done && html`<p class="quiet">${translator.text('try.later')}</p>`
    }
  </section>`;
}

function exchange(view: Pick<TryView, 'translator' | 'client'>, done: Exchange): Html {
  const { translator } = view;
  const block = (title: string, text: Fragment) =>
    html`<h3>${title}</h3>
      <pre tabindex="0" dir="ltr"><code>${text}</code></pre>`;
  return html`${block(translator.text('refused.request'), done.request)}
  ${block(`${translator.text('refused.response')}: ${done.status}`, done.response)}
  ${done.finding && finding(view, done.finding)}`;
}

/** Explains an error immediately, and links to the refused request, which has the compared values. */
function finding({ translator, client }: Pick<TryView, 'translator' | 'client'>, found: Finding): Html {
  const { error, description, reference, entry, check } = found;
  const { title = '', meaning: english = '', remedies = [] } = entry ?? {};
  const actions = remedies.flatMap(([party, action]) => (party === 'application' ? [action] : []));
  const cause = translatedCause(translator, check, { title, meaning: english, actions });
  return html`<div role="alert">
    <p>${translator.text('refused.response')}: <code>${error}</code> ${inEnglish(translator, description)}</p>
    ${entry && html`<p>${cause.meaning}</p>`}
    ${
      cause.actions.length > 0 &&
      html`<ul>
        ${cause.actions.map((action) => html`<li>${action}</li>`)}
      </ul>`
    }
    ${
      reference !== null &&
      html`<p>
        <a
          href="${pathOf(client.clientId, 'activity')}?${new URLSearchParams({ reference }).toString()}${REFUSED}"
          >${translator.text('try.cause')}</a
        >
      </p>`
    }
  </div>`;
}
