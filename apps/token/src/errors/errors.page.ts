import { hash } from 'node:crypto';
import { ERROR_GUIDE, type GuideSection } from '#oauth/error-guide/error-guide.js';

type Entry = GuideSection['entries'][number];

/** System fonts and colours of both schemes, with a contrast of at least 4.5:1 (WCAG 2.2, 1.4.3). Long words break on a telephone. */
const STYLE = `
:root { color-scheme: light dark; --page: #fff; --text: #1b1f27; --quiet: #515967; --line: #d9dce2; --code: #f3f4f6; --link: #1d4ed8; --mark: #fdf3d0; }
@media (prefers-color-scheme: dark) { :root { --page: #14161a; --text: #eceef2; --quiet: #aab2bf; --line: #363b45; --code: #23262d; --link: #9db8ff; --mark: #3a3212; } }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 3rem 0 0; font-size: 1.25rem; border-bottom: 1px solid var(--line); }
h3 { margin: 0; font-size: 1rem; }
article { margin: 1rem -0.75rem 0; padding: 0.5rem 0.75rem; border-radius: 0.5rem; }
article:target { background: var(--mark); }
p, ul { margin: 0.25rem 0; }
a { color: var(--link); }
nav ul { padding: 0; list-style: none; }
nav a { display: inline-block; min-height: 1.5rem; padding: 0.25rem 0; }
code { padding: 0.1em 0.3em; border-radius: 0.25rem; background: var(--code); font-size: 0.9em; }
.anchor { color: var(--quiet); font-size: 0.875rem; }
`;

/** Nothing is loaded, executed, sent or framed. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Every error as developers and users may meet it. It never changes while the process runs. */
export function errorsPage(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors of the authorization service</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Errors of the authorization service</h1>
<p>An error answer has <code>error</code>, <code>error_description</code>, <code>error_uri</code> (an address on this page) and <code>error_reference</code>.
If nothing here helps, give the reference to the operator of the service, who finds the failed check by it.</p>
<nav aria-label="Sections"><ul>
${ERROR_GUIDE.map((section, index) => `<li><a href="#section-${index + 1}">${text(section.title)}</a></li>`).join('\n')}
</ul></nav>
</header>
<main>
${ERROR_GUIDE.map(sectionOf).join('\n')}
</main>
</body>
</html>
`;
}

function sectionOf({ title, entries }: GuideSection, index: number): string {
  return `<section aria-labelledby="section-${index + 1}">
<h2 id="section-${index + 1}">${text(title)}</h2>
${entries.map(article).join('\n')}
</section>`;
}

function article({ anchor, title, meaning, remedies }: Entry): string {
  const own = remedies.filter(([party]) => party === 'application' || party === 'user');
  return `<article id="${text(anchor)}">
<h3>${text(title)}</h3>
<p>${text(meaning)}</p>
${own.length > 0 ? `<ul>\n${own.map(([, action]) => `<li>${text(action)}</li>`).join('\n')}\n</ul>` : ''}
${own.length < remedies.length ? '<p>Otherwise the operator of the service can fix it: send the reference.</p>' : ''}
<p class="anchor"><a href="#${text(anchor)}">#${text(anchor)}</a></p>
</article>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text of the guide, and marks what stands in backticks as code. */
function text(plain: string): string {
  return plain
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
