import { html, type Html } from '#ui/html.js';
import type { ClientHistory, HistoryPeriod } from '#audit/operations/explain/client-history.service.js';
import { columnChart, legend } from '#pages/column-chart.js';
import { day, phrase } from '#pages/format.js';
import { numbers } from '#pages/components.js';

export const peak = (highest: number): string => phrase('peak: {highest, number}', { highest });

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
    peak,
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
