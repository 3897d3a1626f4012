import { table } from '../report.js';
import type { Comparison } from './compare.js';
import { type Route, ROUTES } from './contestants.js';

const PRODUCT = 'this product';
const TITLES: Readonly<Record<Route, string>> = {
  exchange: 'Code for tokens',
  exchangeRs256: 'Code, RS256 ID token',
  exchangeEs256: 'Code, ES256 ID token',
  refresh: 'Refresh',
  resource: 'Resource, known token',
};

/** Times in milliseconds; the last two are ratios of this product to the server of the row. */
const HEAD = [
  'route',
  'server',
  'requests/s',
  'p50',
  'p99',
  'p50 alone',
  'CPU',
  'main thread',
  'requests/s ×',
  'CPU ×',
];

export function tables(results: readonly Comparison[]): string {
  const rows = ROUTES.flatMap((route) => {
    const ofRoute = results.filter((result) => result.route === route);
    const product = ofRoute.find(({ contestant }) => contestant === PRODUCT);
    return ofRoute.map(({ contestant, perSecond, p50, p99, unloadedP50, cpu, main }) => [
      TITLES[route],
      contestant,
      Math.round(perSecond).toLocaleString('en'),
      ...[p50, p99, unloadedP50].map((time) => time.toFixed(2)),
      ...[cpu, main].map((time) => time.toFixed(3)),
      product ? (product.perSecond / perSecond).toFixed(2) : '',
      product ? (product.cpu / cpu).toFixed(2) : '',
    ]);
  });
  return table(HEAD, rows);
}

const BAR = { height: 22, gap: 8, left: 200, width: 420, right: 110 } as const;

/** Draws an SVG chart of the requests per second, with a background for light and dark pages. */
export function chart(results: readonly Comparison[]): string {
  const parts: string[] = [];
  let y = 12;
  for (const route of ROUTES) {
    const rows = results.filter((result) => result.route === route);
    const most = Math.max(...rows.map(({ perSecond }) => perSecond));
    y += 16;
    parts.push(`<text x="12" y="${y}" font-weight="600">${TITLES[route]}, requests per second</text>`);
    y += 12;
    for (const { contestant, perSecond } of rows) {
      const width = Math.max(1, Math.round((perSecond / most) * BAR.width));
      const fill = contestant === PRODUCT ? '#1d4ed8' : '#9aa3b2';
      const middle = y + BAR.height / 2 + 4;
      parts.push(
        `<text x="${BAR.left - 10}" y="${middle}" text-anchor="end">${contestant}</text>`,
        `<rect x="${BAR.left}" y="${y}" width="${width}" height="${BAR.height}" rx="3" fill="${fill}"/>`,
        `<text x="${BAR.left + width + 8}" y="${middle}">${Math.round(perSecond).toLocaleString('en')}</text>`,
      );
      y += BAR.height + BAR.gap;
    }
    y += 10;
  }
  const width = BAR.left + BAR.width + BAR.right;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="img" aria-label="Requests per second of this product and its peers" font-family="system-ui, sans-serif" font-size="13" fill="#1b1f27">`,
    `<rect width="100%" height="100%" rx="6" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
