import { createHash } from 'node:crypto';

/**
 * The whole look of the pages. It stands in each page, allowed by its hash: one request per page, and two versions
 * of the app running side by side during a deployment cannot mix page and style.
 */
export const STYLESHEET = `
:root { color-scheme: light dark; --page: #f3f4f6; --card: #fff; --text: #1b1f27; --quiet: #555d6b; --line: #858d9b; --accent: #1d4ed8; --on-accent: #fff; --error: #a4161a; --error-page: #fdf0f0; }
@media (prefers-color-scheme: dark) { :root { --page: #14161a; --card: #1e2127; --text: #eceef2; --quiet: #aab2bf; --line: #7b8494; --accent: #9dbcff; --on-accent: #10131a; --error: #ffb3b0; --error-page: #3a1d1f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 1rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { width: 100%; max-width: 26rem; padding: clamp(1.25rem, 6vw, 2.25rem); background: var(--card); border-radius: 0.75rem; box-shadow: 0 1px 3px rgb(0 0 0 / 20%); }
h1 { margin: 0 0 1rem; font-size: 1.375rem; line-height: 1.3; }
p, ul { margin: 0 0 1rem; }
main > :last-child { margin-bottom: 0; }
ul { padding-left: 1.25rem; }
.quiet { color: var(--quiet); font-size: 0.9375rem; }
[role=alert] { padding: 0.75rem 1rem; border-radius: 0.5rem; background: var(--error-page); color: var(--error); }
label { display: block; font-weight: 600; }
input { width: 100%; min-height: 2.75rem; margin: 0.25rem 0 1rem; padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; background: transparent; color: inherit; font: inherit; }
input[aria-invalid] { border-color: var(--error); }
button, .button { display: inline-block; min-height: 2.75rem; padding: 0.5625rem 1rem; border: 1px solid var(--accent); border-radius: 0.5rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; line-height: 1.5; text-align: center; text-decoration: none; cursor: pointer; }
button.wide { width: 100%; }
button.even { flex: 1 1 6rem; background: transparent; color: var(--accent); }
button.plain { min-height: 2.75rem; padding: 0.25rem 0; border: 0; background: transparent; color: var(--accent); text-decoration: underline; }
button:hover, .button:hover { text-decoration: underline; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.choice { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.25rem; }
.account { margin: 1.25rem 0; padding: 0.75rem 0 0.25rem; border-block: 1px solid color-mix(in srgb, var(--line) 40%, transparent); }
.account p { margin: 0; }
code { font-family: ui-monospace, monospace; }
`;

/** What the Content-Security-Policy says of it. */
export const STYLESHEET_SOURCE = `'sha256-${createHash('sha256').update(STYLESHEET).digest('base64')}'`;
