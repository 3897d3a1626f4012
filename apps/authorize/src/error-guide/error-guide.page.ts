import { ERROR_GUIDE, type GuideSection } from '#error-guide/error-guide.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/language.service.js';
import type { UserPage } from '../ui/user-page.responder.js';

type Entry = GuideSection['entries'][number];

const SECTIONS = ERROR_GUIDE.map(sectionOf);

/** The entries are in English, like `error_description`. */
export function errorGuidePage(translator: Translator): UserPage {
  const title = translator.text('guide.title');
  return {
    translator,
    title,
    content: html`
      <h1>${title}</h1>
      <p>${translator.text('guide.intro')}</p>
      ${translator.locale !== 'en' && html`<p>${translator.text('guide.english')}</p>`}
      <div lang="en" dir="ltr">
        <nav aria-label="${translator.text('guide.title')}">
          <ul class="plain">
            ${ERROR_GUIDE.map(
              (section, index) =>
                html`<li><a class="alone" href="#section-${index + 1}">${section.title}</a></li>`,
            )}
          </ul>
        </nav>
        ${SECTIONS}
      </div>
    `,
  };
}

function sectionOf({ title, entries }: GuideSection, index: number): Html {
  const id = `section-${index + 1}`;
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${entries.map(article)}
  </section>`;
}

function article({ anchor, title, meaning, remedies }: Entry): Html {
  const own = remedies.filter(([party]) => party === 'application' || party === 'user');
  return html`<article id="${anchor}">
    <h3>${marked(title)}</h3>
    <p>${marked(meaning)}</p>
    ${
      own.length > 0 &&
      html`<ul>
        ${own.map(([, action]) => html`<li>${marked(action)}</li>`)}
      </ul>`
    }
    ${own.length < remedies.length && html`<p>Otherwise, only the operator of the service can fix this. Send the operator the reference.</p>`}
    <p class="quiet"><a class="alone" href="#${anchor}">#${anchor}</a></p>
  </article>`;
}

function marked(text: string): Fragment[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
