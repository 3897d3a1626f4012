/**
 * The colours, spaces and corners that the stylesheet is made of, light and dark. Text on its ground has a contrast of
 * 4.5:1 at least, the edge of a field 3:1 (WCAG 2.2, 1.4.3 and 1.4.11).
 */
export const TOKENS = `
:root {
  color-scheme: light dark;
  --page: #f3f4f6; --card: #fff; --field: #fff; --text: #1b1f27; --quiet: #515967;
  --line: #7d8592; --edge: #d9dce2;
  --accent: #1d4ed8; --on-accent: #fff; --accent-page: #e6ecfd;
  --error: #a4161a; --error-page: #fdf0f0; --good: #14532d; --good-page: #ebf7ef;
  --space-1: 0.25rem; --space-2: 0.5rem; --space-3: 0.75rem; --space-4: 1rem; --space-5: 1.5rem; --space-6: 2.5rem;
  --round-1: 0.5rem; --round-2: 0.875rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --card: #1e2127; --field: #15171c; --text: #eceef2; --quiet: #aab2bf;
    --line: #7b8494; --edge: #363b45;
    --accent: #9dbcff; --on-accent: #10131a; --accent-page: #26324d;
    --error: #ffb3b0; --error-page: #3a1d1f; --good: #a7e3bb; --good-page: #17301f;
  }
}`;
