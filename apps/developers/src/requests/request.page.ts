import type {
  MessageView,
  RequestView as SentRequest,
} from '#clients/operations/requests/request.description.js';
import type { RegisteredClient } from '#clients/operations/registered-client.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { button, hiddenFields, linesField, postForm, problemBox } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { html, type Html } from '#ui/html.js';
import { copyable, noteOf, pathOf, requestName, statusTag, timeOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';
import { type Content, contentFacts, NO_PROBLEMS, type Problems, requestFields } from './request.form.js';

export interface RequestFormView extends Viewer {
  /** Null for a request that is not saved yet. */
  readonly draft: Pick<SentRequest, 'id' | 'version' | 'client_id'> | null;
  readonly content: Content;
  readonly catalogue: ScopeCatalogue;
  readonly problems?: Problems;
}

/** Form of a draft. Both buttons send all fields. */
export function requestFormPage(view: RequestFormView): Page {
  const { translator, developer, draft, problems = NO_PROBLEMS } = view;
  const hasKind = (draft?.client_id ?? null) === null;
  const fields = requestFields(translator, { ...view, problems, hasKind });
  const path = draft === null ? '/requests' : `/requests/${draft.id}`;
  return {
    title: translator.text('request.new'),
    status: problems.size > 0 ? 400 : 200,
    section: '/requests/new',
    content: html`
      ${noteOf(view)} ${problems.size > 0 && problemBox([translator.text('request.problems')])}
      <p>${translator.text('request.intro')}</p>
      ${postForm(
        developer,
        path,
        html`${versionField(draft)} ${fields}
          <div class="actions">
            <button name="action" value="submit">${translator.text('request.submit')}</button>
            <button class="even" name="action" value="save" formnovalidate>
              ${translator.text('request.save')}
            </button>
          </div>`,
        'narrow',
        true,
      )}
      ${
        draft !== null &&
        postForm(
          developer,
          `${path}/withdraw`,
          html`${versionField(draft)} ${button(translator.text('request.delete'), 'danger')}`,
          '',
        )
      }
    `,
  };
}

export interface RequestView extends Viewer {
  readonly request: SentRequest;
  readonly messages: readonly MessageView[];
  readonly catalogue: ScopeCatalogue;
}

export function requestPage(view: RequestView): Page {
  const { translator, developer, request } = view;
  const { id, client_id: clientId, status } = request;
  const isOpen = status === 'submitted' || status === 'question';
  return {
    title: translator.text('request.title', {
      name: requestName(translator, (request.content as Content)['name']),
    }),
    section: '/',
    content: html`
      ${noteOf(view)}
      <p>${statusTag(translator, status)} ${timeOf(translator, request.submitted_at)}</p>
      ${clientId !== null && html`<p><a href="${pathOf(clientId)}">${translator.text('created.next')}</a></p>`}
      ${contentFacts(translator, { kind: request.kind, content: request.content as Content })}
      ${conversation(view)} ${isOpen && answerForm(view)}
      ${
        isOpen &&
        request.kind === 'change' &&
        postForm(
          developer,
          `/requests/${id}/withdraw`,
          html`${versionField(request)} ${button(translator.text('request.withdraw'), 'danger')}`,
          '',
        )
      }
      ${
        status === 'rejected' &&
        request.kind === 'registration' &&
        postForm(developer, `/requests/${id}/again`, button(translator.text('request.again')), '')
      }
    `,
  };
}

/** Version that the user has read, so that no change of another owner is lost. */
function versionField(request: Pick<SentRequest, 'version'> | null): Html[] {
  return request === null ? [] : hiddenFields([['version', String(request.version)]]);
}

function conversation({ translator, messages }: RequestView): Html {
  return html`<h2>${translator.text('messages.title')}</h2>
    ${messages.length === 0 && html`<p class="quiet">${translator.text('messages.none')}</p>`}
    ${messages.map(
      ({ author, name, text, at }) =>
        html`<section>
          <p class="quiet">
            ${translator.text(`messages.${author}`)} ${author === 'owner' && html`<bdi>${name}</bdi>`}
            ${timeOf(translator, at)}
          </p>
          ${text.split('\n').map((line) => html`<p><bdi>${line}</bdi></p>`)}
        </section>`,
    )}`;
}

function answerForm({ translator, developer, request }: RequestView): Html {
  return postForm(
    developer,
    `/requests/${request.id}/messages`,
    html`${versionField(request)}
    ${linesField({ name: 'text', label: translator.text('messages.answer'), value: [], required: true })}
    ${button(translator.text('messages.send'))}`,
  );
}

/** The only page that shows the secret of a new application. */
export function createdPage(
  viewer: Viewer,
  name: string,
  { client_id: clientId, client_secret: secret }: RegisteredClient,
): Page {
  const { translator } = viewer;
  return {
    title: translator.text('created.title', { name }),
    status: 201,
    section: '/',
    content: html`
      ${secretFacts(viewer, clientId, secret)}
      <p>${translator.text('stage.testing_hint')}</p>
      <p><a class="button" href="${pathOf(clientId)}">${translator.text('created.next')}</a></p>
    `,
  };
}

export function secretFacts(viewer: Viewer, clientId: string, secret: string | null): Html {
  const { translator } = viewer;
  return html`${secret !== null && html`<p role="status">${translator.text('created.once')}</p>`}
    <dl class="facts">
      <dt>${translator.text('field.client_id')}</dt>
      <dd>${copyable(viewer, 'client-id', clientId)}</dd>
      ${
        secret !== null &&
        html`<dt>${translator.text('field.secret')}</dt>
          <dd>${copyable(viewer, 'secret', secret)}</dd>`
      }
    </dl>`;
}
