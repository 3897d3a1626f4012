import type { AccentColours } from './brand/accent.js';

type Accents = Readonly<Record<'light' | 'dark', AccentColours>>;

function accentTokens({ accent, onAccent, tint, onTint }: AccentColours): string {
  return `--accent: ${accent}; --on-accent: ${onAccent}; --accent-page: ${tint}; --on-accent-page: ${onTint};`;
}

/** Contrast of at least 4.5:1 for text, and 3:1 for the border of a field (WCAG 2.2, 1.4.3 and 1.4.11). */
const designTokens = ({ light, dark }: Accents): string => `
:root {
  color-scheme: light dark;
  --page: #f3f4f6; --card: #fff; --field: #fff; --text: #1b1f27; --quiet: #515967;
  --line: #7d8592; --edge: #d9dce2;
  ${accentTokens(light)}
  --error: #a4161a; --error-page: #fdf0f0; --good: #14532d; --good-page: #ebf7ef;
  --space-1: 0.25rem; --space-2: 0.5rem; --space-3: 0.75rem; --space-4: 1rem; --space-5: 1.5rem; --space-6: 2.5rem;
  --round-1: 0.5rem; --round-2: 0.875rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --card: #1e2127; --field: #15171c; --text: #eceef2; --quiet: #aab2bf;
    --line: #7b8494; --edge: #363b45;
    ${accentTokens(dark)}
    --error: #ffb3b0; --error-page: #3a1d1f; --good: #a7e3bb; --good-page: #17301f;
  }
}`;

/**
 * Stylesheet, which pages inline so that the first paint needs no second request. Logical properties (inline-start)
 * work in both writing directions.
 */
export const stylesheetOf = (accents: Accents): string => `${designTokens(accents)}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-block: var(--space-4); }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; grid-template: auto 1fr / minmax(0, 1fr); justify-items: center; align-items: start; gap: var(--space-4); padding: var(--space-5) var(--space-4) var(--space-6); background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; text-wrap: pretty; }
.brand { font-weight: 700; letter-spacing: 0.01em; }
.brand a { color: inherit; text-decoration: none; }
.brand img { display: block; width: auto; max-width: 100%; height: 2rem; object-fit: contain; }
.links { display: flex; flex-wrap: wrap; justify-content: center; align-items: center; gap: 0 var(--space-4); font-size: 0.9375rem; }
main { width: 100%; max-width: 27rem; padding: clamp(1.25rem, 6vw, 2.25rem); background: var(--card); border: 1px solid var(--edge); border-radius: var(--round-2); }
h1 { margin: 0 0 var(--space-4); font-size: 1.375rem; line-height: 1.3; text-wrap: balance; }
h2 { margin: var(--space-5) 0 var(--space-2); font-size: 1rem; }
p, ul, dl, details { margin: 0 0 var(--space-4); }
main > :last-child { margin-bottom: 0; }
ul { padding-inline-start: 1.25rem; list-style: disc; }
ul.plain { padding: 0; list-style: none; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a.alone { display: inline-block; min-width: 2.75rem; min-height: 2.75rem; padding-block: 0.625rem; }
bdi, strong, .pages a { display: inline-block; text-align: -webkit-match-parent; text-align: match-parent; }
:is(h1, h2, legend, [role=alert]) bdi { display: inline; }
form + p { margin-top: var(--space-4); }
.quiet { color: var(--quiet); font-size: 0.9375rem; }
[role=alert], [role=status] { padding: var(--space-3) var(--space-4); border-radius: var(--round-1); border-inline-start: 4px solid; }
[role=alert] { background: var(--error-page); color: var(--error); }
[role=status] { background: var(--good-page); color: var(--good); }
label { display: block; font-weight: 600; }
input:not([type=checkbox]), select { width: 100%; min-height: 2.75rem; margin: var(--space-2) 0 var(--space-4); padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: var(--round-1); background: var(--field); color: inherit; font: inherit; }
input[aria-invalid] { border-color: var(--error); }
.scope { display: flex; align-items: flex-start; gap: var(--space-3); padding: var(--space-2) 0; min-height: 2.75rem; font-weight: 400; }
.scope small { display: block; color: var(--quiet); font-size: 0.875rem; }
.mark { flex: none; width: 1.75rem; height: 1.75rem; padding: 0.1875rem; border-radius: var(--round-1); background: var(--accent-page); color: var(--on-accent-page); fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linejoin: round; }
.mark.write { background: var(--accent); color: var(--on-accent); }
.scope input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
fieldset { margin: 0 0 var(--space-4); padding: 0; border: 0; min-width: 0; }
legend { margin: 0 0 var(--space-2); padding: 0; font-weight: 600; }
button, .button { display: inline-block; min-height: 2.75rem; padding: 0.5625rem 1rem; border: 1px solid var(--accent); border-radius: var(--round-1); background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; line-height: 1.5; text-align: center; text-decoration: none; cursor: pointer; }
button.wide, .button.wide { width: 100%; }
button.even, .button.even { flex: 1 1 7rem; min-width: fit-content; padding-inline: var(--space-2); background: transparent; color: var(--accent); }
button.plain { min-height: 2.75rem; padding: 0.25rem 0; border: 0; background: transparent; color: var(--accent); text-decoration: underline; text-underline-offset: 0.15em; text-align: start; }
button.danger, .button.danger { border-color: var(--error); background: transparent; color: var(--error); }
button:hover, .button:hover { text-decoration: underline; }
[hidden] { display: none; }
.late { animation: late 0s 10s both; }
@keyframes late { from { visibility: hidden; } }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.choice { display: flex; flex-wrap: wrap; gap: var(--space-3); margin-top: var(--space-5); }
.hinted { margin: 0 0 var(--space-5); }
.hinted > p { margin: var(--space-1) 0 0; }
.hinted > .wide + p { margin-top: var(--space-2); }
.shows { margin: calc(-1 * var(--space-4)) 0 var(--space-3); }
.shows[aria-pressed=true]::after { content: " \\2713"; }
.party { display: flex; align-items: center; gap: var(--space-3); margin: 0 0 var(--space-4); }
.party > :last-child { min-width: 0; }
.party p, .party h2 { margin: 0; }
.pages { display: flex; flex-wrap: wrap; gap: 0 var(--space-4); margin: calc(-1 * var(--space-3)) 0 var(--space-2); font-size: 0.9375rem; }
.face { flex: none; display: grid; place-items: center; width: 3rem; height: 3rem; border-radius: var(--round-1); background: var(--accent-page); color: var(--on-accent-page); font-size: 1.25rem; font-weight: 700; object-fit: cover; overflow: hidden; }
.face.person { width: 2.5rem; height: 2.5rem; border-radius: 50%; font-size: 1rem; }
.account { margin: var(--space-5) 0; padding: var(--space-3) 0 var(--space-2); border-block: 1px solid var(--edge); }
.account .party { margin-bottom: var(--space-1); }
.account p { margin: 0; }
.rows { border-block-end: 1px solid var(--edge); }
.rows > li { padding: var(--space-4) 0; border-block-start: 1px solid var(--edge); }
summary { min-height: 2.75rem; padding: 0.5625rem 0; color: var(--accent); cursor: pointer; }
hr { margin: var(--space-5) 0; border: 0; border-block-start: 1px solid var(--edge); }
dt { font-weight: 600; }
dd { margin: 0 0 var(--space-2); }
code { font-family: ui-monospace, monospace; font-size: 0.9375em; direction: ltr; unicode-bidi: isolate; user-select: all; }
code span { display: inline-block; }
main:has(article) { max-width: 46rem; }
section h2 { margin-top: var(--space-6); font-size: 1.25rem; }
h3 { margin: 0; font-size: 1rem; }
article { margin-inline: calc(-1 * var(--space-3)); padding: var(--space-2) var(--space-3); border-radius: var(--round-1); }
article:target { background: var(--good-page); }
@media (forced-colors: active) { main, .face { border: 1px solid; } }
`;
