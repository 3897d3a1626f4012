export const PAGE_RULES = `
body { grid-template: auto auto 1fr / minmax(0, 1fr); }
main { max-width: 72rem; }
.skip { position: absolute; inset-inline-start: var(--space-4); inset-block-start: -4rem; padding: var(--space-2) var(--space-4); background: var(--card); }
.skip:focus { inset-block-start: var(--space-2); }
nav { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 var(--space-5); width: 100%; max-width: 72rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 var(--space-4); margin: 0; }
nav a { display: inline-block; min-height: 2.75rem; padding-block: 0.625rem; }
nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration-thickness: 2px; }
nav form { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--space-3); }
table { width: 100%; border-collapse: collapse; }
.scrolls { overflow-x: auto; margin: 0 0 var(--space-4); }
caption { max-width: calc(100vw - 5rem); padding: var(--space-2) 0; text-align: start; font-weight: 600; }
.actions .even, form.filter .even { flex: 0 1 auto; }
button.even, .button.even { padding-inline: 1rem; }
.scope input { min-height: 0; }
table { overflow-wrap: normal; }
bdi, strong { display: inline; }
.tag { white-space: nowrap; }
th, td { padding: var(--space-2) var(--space-3) var(--space-2) 0; border-block-end: 1px solid var(--edge); text-align: start; vertical-align: top; }
td.number, th.number { text-align: end; font-variant-numeric: tabular-nums; }
textarea { display: block; width: 100%; min-height: 5.5rem; margin: var(--space-2) 0 var(--space-4); padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: var(--round-1); background: var(--field); color: inherit; font: inherit; }
textarea[aria-invalid] { border-color: var(--error); }
.hint { margin: 0 0 var(--space-1); color: var(--quiet); font-size: 0.9375rem; }
[role=alert] > p:last-child { margin-bottom: 0; }
div[role=alert] { margin-bottom: var(--space-4); }
p[role=alert]::first-letter, [role=alert] p::first-letter { text-transform: uppercase; }
.problem { margin: 0 0 var(--space-1); color: var(--error); }
progress { display: block; width: 100%; max-width: 36rem; height: 1rem; margin-block: var(--space-2); accent-color: var(--accent); }
td button.plain { min-height: 0; padding-block: 0; }
td input[type=checkbox] { margin: 0; width: 1.5rem; height: 1.5rem; min-height: 0; }
iframe { width: 100%; margin: 0 0 var(--space-4); max-width: 42rem; height: 56rem; border: 1px solid var(--line); border-radius: var(--round-1); }
.actions a[aria-current] { color: var(--text); font-weight: 600; }
form.narrow { max-width: 36rem; }
form.filter { display: flex; flex-wrap: wrap; align-items: end; gap: 0 var(--space-4); }
form.filter > div { flex: 1 1 12rem; }
form.filter button { margin-bottom: var(--space-4); }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space-3) var(--space-4); margin: 0 0 var(--space-4); }
.tag { display: inline-block; padding: 0 var(--space-2); border: 1px solid var(--line); border-radius: var(--round-1); font-size: 0.875rem; }
.tag.bad { border-color: var(--error); color: var(--error); }
.wraps { display: block; min-width: 12rem; overflow-wrap: anywhere; }
.wraps.short { min-width: 9rem; }
code.copied { user-select: all; overflow-wrap: anywhere; }
code.command { display: block; overflow-wrap: anywhere; }
ins { background: var(--good-page); color: var(--good); text-decoration: none; }
del { background: var(--error-page); color: var(--error); }
pre { margin: 0 0 var(--space-4); font-size: 0.875rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: var(--space-1) var(--space-5); }
.facts dd { margin: 0; }
@media (max-width: 40rem) { .facts { grid-template-columns: 1fr; } .facts dd { margin: 0 0 var(--space-2); } }
@media (max-width: 40rem) {
  .stacks, .stacks tbody, .stacks tr, .stacks caption { display: block; }
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacks tr { padding: var(--space-3) 0; border-block-end: 1px solid var(--edge); overflow-wrap: anywhere; }
  .stacks td { display: grid; grid-template-columns: 6.75rem 1fr; gap: var(--space-2); padding: var(--space-1) 0; border: 0; }
  .stacks td.number { text-align: start; }
  .stacks td::before { content: attr(data-title); color: var(--quiet); font-size: 0.9375rem; }
  .stacks td > div { min-width: 0; }
  .stacks td:has(:is(div, .wraps):empty) { display: none; }
  .stacks .tag, .stacks time { white-space: normal; }
  .stacks .prose, .stacks .wraps, .stacks details[open] { min-width: 0; }
}
figure { margin: 0; }
figcaption { font-weight: 600; }
figcaption span { font-weight: 400; }
figure > .chart { display: block; width: 100%; height: 12rem; margin: var(--space-2) 0 0; border-block-end: 1px solid var(--line); }
.chart .issued { fill: var(--accent); }
.chart .refreshed { fill: var(--line); }
.chart .refused { fill: var(--error); }
.chart .refused-1 { fill-opacity: 0.75; }
.chart .refused-2 { fill-opacity: 0.5; }
.chart .refused-3 { fill-opacity: 0.3; }
.chart .misused { fill: none; stroke: var(--error); stroke-width: 2px; stroke-dasharray: 4 3; vector-effect: non-scaling-stroke; }
.axis { display: flex; justify-content: space-between; color: var(--quiet); font-size: 0.875rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0 var(--space-4); margin: 0 0 var(--space-4); }
.legend svg { display: inline-block; width: 1rem; height: 1rem; margin-inline-end: var(--space-2); vertical-align: -0.125rem; }
time { white-space: nowrap; }
.prose { min-width: 16rem; }
section + p { margin-top: var(--space-5); }
td details { margin: 0; }
td details[open] { min-width: 14rem; }
td .facts { grid-template-columns: 1fr; }
td summary { min-height: 0; padding: 0; }
td dt a { display: inline-block; min-height: 1.5rem; }
`;
