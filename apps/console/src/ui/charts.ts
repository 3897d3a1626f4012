import { type Fragment, html, type Html } from '#ui/html.js';
import type { ClientHistory, HistoryPeriod } from '#audit/operations/explain/client-history.service.js';
import { day, phrase } from '#pages/text.js';
import { numbers } from '#pages/components.js';

/** In units of the drawing, which is stretched to the width of the page. */
const [HEIGHT, COLUMN, GAP] = [100, 10, 2];

interface ChartColumn {
  readonly name: string;
  /** Bars from the bottom to the top, with their classes in the stylesheet. */
  readonly bars: readonly { readonly look: string; readonly count: number }[];
  /** Class of a frame around the column. */
  readonly frame?: string | false;
}

interface ColumnChart {
  /** Prefix of the ids of the elements. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly columns: readonly ChartColumn[];
  /** Legend and table. */
  readonly below?: Fragment;
}

export function columnChart({ id, title, description, columns, below }: ColumnChart): Html {
  const totals = columns.map(({ bars }) => bars.reduce((sum, { count }) => sum + count, 0));
  const highest = Math.max(...totals, 0);
  return html`<figure>
    <figcaption>
      ${title} <span class="quiet">${phrase('peak: {highest, number}', { highest })}</span>
    </figcaption>
    <svg
      class="chart"
      role="img"
      aria-labelledby="${id}-title ${id}-text"
      viewBox="0 0 ${columns.length * COLUMN} ${HEIGHT}"
      preserveAspectRatio="none"
    >
      <title id="${id}-title">${title}</title>
      <desc id="${id}-text">${description}</desc>
      ${columns.map((column, index) => drawn(column, index, highest))}
    </svg>
    <p class="axis"><span>${columns[0]?.name}</span><span>${columns.at(-1)?.name}</span></p>
    ${below}
  </figure>`;
}

function drawn({ bars, frame = false }: ChartColumn, index: number, highest: number): Html {
  let y = HEIGHT;
  const rectangles = bars.map(({ look, count }) => {
    const height = count > 0 ? (count / highest) * HEIGHT : 0;
    y -= height;
    return height > 0 && rectangle(index, look, y, height);
  });
  return html`${rectangles}${frame !== false && rectangle(index, frame, 0, HEIGHT)}`;
}

function rectangle(index: number, look: string, y: number, height: number): Html {
  return html`<rect
    class="${look}"
    x="${index * COLUMN + GAP / 2}"
    y="${y.toFixed(2)}"
    width="${COLUMN - GAP}"
    height="${height.toFixed(2)}"
  />`;
}

/** Number of causes with a separate colour in the chart and column in the table; all others share one of each. */
const MAX_CAUSES = 3;

interface Series {
  readonly title: string;
  readonly look: string;
  readonly count: (period: HistoryPeriod) => number;
}

export function chart({ periods, unit }: Pick<ClientHistory, 'periods' | 'unit'>): Html {
  const series = seriesOf(periods);
  const misused = periods.some((period) => period.misused > 0);
  const nameOf = ({ start }: HistoryPeriod) => (unit === 'day' ? day(start) : hour(start));
  const names = series.map(({ title }) => title).join(', ');
  return columnChart({
    id: 'chart',
    title: unit === 'day' ? 'Requests per day' : 'Requests per hour',
    description: phrase('Columns of {names}. The table below has their numbers.', { names }),
    columns: periods.map((period) => ({
      name: nameOf(period),
      bars: series.map(({ look, count }) => ({ look, count: count(period) })),
      frame: period.misused > 0 && 'misused',
    })),
    below: html`<ul class="plain legend">
        ${series.map(({ title: text, look }) => legend(text, look))} ${misused && legend(MISUSED, 'misused')}
      </ul>
      ${numbers(
        unit === 'day' ? 'Numbers per day (UTC)' : 'Numbers per hour (UTC)',
        [
          unit === 'day' ? 'Day' : 'Hour',
          ...series.map(({ title }) => ({ title, isNumber: true }) as const),
          misused && ({ title: MISUSED, isNumber: true } as const),
        ],
        periods.map((period) => [
          html`<time>${nameOf(period)}</time>`,
          ...series.map(({ count }) => count(period)),
          period.misused,
        ]),
      )}`,
  });
}

const MISUSED = 'Possible leak of a code or token';

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
    { title: 'issued', look: 'issued', count: ({ issued }) => issued },
    { title: 'refreshed', look: 'refreshed', count: ({ refreshed }) => refreshed },
    ...frequent.map((cause, index) => ({
      title: phrase('refused: {cause}', { cause }),
      look: `refused refused-${index}`,
      count: ({ refused }: HistoryPeriod) => refused[cause] ?? 0,
    })),
    ...(rest.length === 0
      ? []
      : [
          {
            title: 'refused for other causes',
            look: `refused refused-${MAX_CAUSES}`,
            count: ({ refused }: HistoryPeriod) =>
              rest.reduce((sum, cause) => sum + (refused[cause] ?? 0), 0),
          },
        ]),
  ];
}

const hour = (start: string): string => `${day(start)}, ${start.slice(11, 16)}`;
