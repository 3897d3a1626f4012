import type { ClientHistory, HistoryPeriod } from '#administration/explain/client-history.service.js';
import { html, type Html } from '#ui/html.js';
import { table } from '../ui/components.js';
import { day, t } from '../ui/text.js';

/** Number of causes with a separate colour in the chart and column in the table; all others share one of each. */
const MAX_CAUSES = 3;
/** In units of the drawing, which is stretched to the width of the page. */
const HEIGHT = 100;
const COLUMN = 10;
const GAP = 2;

interface Series {
  readonly title: string;
  readonly look: string;
  readonly count: (period: HistoryPeriod) => number;
}

export function chart({ periods, unit }: Pick<ClientHistory, 'periods' | 'unit'>): Html {
  const series = seriesOf(periods);
  const totals = periods.map((period) => series.reduce((sum, { count }) => sum + count(period), 0));
  const highest = Math.max(...totals, 1);
  const misused = periods.some((period) => period.misused > 0);
  const nameOf = ({ start }: HistoryPeriod) => (unit === 'day' ? day(start) : hour(start));
  const title = unit === 'day' ? t('Requests per day') : t('Requests per hour');
  const names = series.map(({ title }) => title).join(', ');
  return html`<figure>
    <figcaption>${title} <span class="quiet">${t('peak: {highest}', { highest })}</span></figcaption>
    <svg
      class="chart"
      role="img"
      aria-labelledby="chart-title chart-text"
      viewBox="0 0 ${periods.length * COLUMN} ${HEIGHT}"
      preserveAspectRatio="none"
    >
      <title id="chart-title">${title}</title>
      <desc id="chart-text">${t('Columns of {names}, one for each row of the table below.', { names })}</desc>
      ${periods.map((period, index) => column(period, index, series, highest))}
    </svg>
    <p class="axis"><span>${periods[0] && nameOf(periods[0])}</span><span>${last(periods, nameOf)}</span></p>
    <ul class="plain legend">
      ${series.map(({ title: text, look }) => legend(text, look))} ${misused && legend(MISUSED, 'misused')}
    </ul>
    ${table(
      unit === 'day' ? t('Numbers per day (UTC)') : t('Numbers per hour (UTC)'),
      [
        unit === 'day' ? t('Day') : t('Hour'),
        ...series.map(({ title }) => ({ title, isNumber: true }) as const),
        misused && ({ title: MISUSED, isNumber: true } as const),
      ],
      periods.map((period) => [
        html`<time>${nameOf(period)}</time>`,
        ...series.map(({ count }) => count(period)),
        period.misused,
      ]),
    )}
  </figure>`;
}

const MISUSED = t('Possible leak of a code or token');

function legend(text: string, look: string): Html {
  return html`<li>
    <svg class="chart" viewBox="0 0 1 1" aria-hidden="true">
      <rect class="${look}" width="1" height="1" /></svg
    >${text}
  </li>`;
}

function seriesOf(periods: readonly HistoryPeriod[]): Series[] {
  const causes = new Map<string, number>();
  for (const { refused } of periods)
    for (const [cause, count] of Object.entries(refused)) causes.set(cause, (causes.get(cause) ?? 0) + count);
  const sorted = [...causes].sort(([, a], [, b]) => b - a).map(([cause]) => cause);
  const [frequent, rest] = [sorted.slice(0, MAX_CAUSES), sorted.slice(MAX_CAUSES)];
  return [
    { title: t('issued'), look: 'issued', count: ({ issued }) => issued },
    { title: t('refreshed'), look: 'refreshed', count: ({ refreshed }) => refreshed },
    ...frequent.map((cause, index) => ({
      title: t('refused: {cause}', { cause }),
      look: `refused refused-${index}`,
      count: ({ refused }: HistoryPeriod) => refused[cause] ?? 0,
    })),
    ...(rest.length === 0
      ? []
      : [
          {
            title: t('refused for other causes'),
            look: `refused refused-${MAX_CAUSES}`,
            count: ({ refused }: HistoryPeriod) =>
              rest.reduce((sum, cause) => sum + (refused[cause] ?? 0), 0),
          },
        ]),
  ];
}

function column(period: HistoryPeriod, index: number, series: readonly Series[], highest: number): Html {
  const x = index * COLUMN + GAP / 2;
  const width = COLUMN - GAP;
  let y = HEIGHT;
  const bars = series.map(({ look, count }) => {
    const height = (count(period) / highest) * HEIGHT;
    y -= height;
    return (
      height > 0 &&
      html`<rect
        class="${look}"
        x="${x}"
        y="${y.toFixed(2)}"
        width="${width}"
        height="${height.toFixed(2)}"
      />`
    );
  });
  return html`${bars}${period.misused > 0 && html`<rect class="misused" x="${x}" y="0" width="${width}" height="${HEIGHT}" />`}`;
}

const hour = (start: string): string => `${day(start)}, ${start.slice(11, 16)}`;

function last(periods: readonly HistoryPeriod[], nameOf: (period: HistoryPeriod) => string): string {
  const period = periods.at(-1);
  return period ? nameOf(period) : '';
}
