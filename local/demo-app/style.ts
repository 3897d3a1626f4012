import { createHash } from 'node:crypto';

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f3f1ec; --card: #ffffff; --ink: #22211f; --quiet: #5d5a54; --line: #dcd8cf;
  --accent: #0b6b57; --on-accent: #ffffff; --focus: #1b5fd0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #171816; --card: #222421; --ink: #eceae4; --quiet: #b0ada4; --line: #3b3e39;
    --accent: #7fd6bd; --on-accent: #0c2720; --focus: #9cc0ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; padding: 1rem; display: flex; flex-direction: column; align-items: center;
  justify-content: center; gap: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif;
}
.brand { margin: 0; font-weight: 600; color: var(--accent); }
main {
  width: 100%; max-width: 30rem; padding: clamp(1.25rem, 5vw, 2.25rem); background: var(--card);
  border: 1px solid var(--line); border-radius: 1rem;
}
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
p { margin: 0 0 1.25rem; overflow-wrap: anywhere; }
.note, footer { margin: 1rem 0 0; font-size: 0.875rem; color: var(--quiet); }
footer { max-width: 30rem; margin: 0; text-align: center; text-wrap: balance; }
main > :last-child { margin-bottom: 0; }
a { color: var(--accent); display: inline-block; padding: 0.75rem 0; margin: -0.5rem 0; }
dl { margin: 0 0 1.5rem; }
dl div { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
dt { font-size: 0.875rem; color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
.actions { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 0.75rem; }
button {
  width: 100%; min-height: 2.75rem; padding: 0.6rem 1.25rem; border: 1px solid var(--accent);
  border-radius: 0.6rem; font: inherit; font-weight: 600; cursor: pointer;
}
.primary { background: var(--accent); color: var(--on-accent); }
.plain { background: none; color: var(--accent); }
button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
`;

/** Content-Security-Policy source that allows only this style. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
