import { type Fragment, html, type Html } from '#ui/html.js';

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
  /** Text beside the title that names the highest total. */
  readonly peak: (highest: number) => string;
  readonly columns: readonly ChartColumn[];
  /** Legend and table. */
  readonly below?: Fragment;
}

export function columnChart({ id, title, description, peak, columns, below }: ColumnChart): Html {
  const totals = columns.map(({ bars }) => bars.reduce((sum, { count }) => sum + count, 0));
  const highest = Math.max(...totals, 0);
  return html`<figure>
    <figcaption>${title} <span class="quiet">${peak(highest)}</span></figcaption>
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

/** Item of a legend. @param look class of the bars */
export function legend(text: string, look: string): Html {
  return html`<li>
    <svg class="chart" viewBox="0 0 1 1" aria-hidden="true">
      <rect class="${look}" width="1" height="1" /></svg
    >${text}
  </li>`;
}
