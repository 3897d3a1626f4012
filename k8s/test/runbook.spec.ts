import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

const PAGE = join('docs', 'run.md');
/** Variables of other people's tools. */
const OF_TOOLS = ['REDISCLI_AUTH', 'NODE_EXTRA_CA_CERTS'];

let page: string;
let alerts: { readonly alert: string; readonly annotations: Readonly<Record<string, string>> }[];

beforeAll(async () => {
  page = await readFile(PAGE, 'utf8');
  const file = parse(await readFile('k8s/monitoring/alerts.yaml', 'utf8')) as {
    spec: { groups: { rules: typeof alerts }[] };
  };
  alerts = file.spec.groups.flatMap(({ rules }) => rules);
});

const headingsOf = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
/** As GitHub makes them. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');
const named = (pattern: RegExp) => [
  ...new Set([...page.matchAll(pattern)].map(([whole, name]) => name ?? whole)),
];

it('every alert has its part, with cause and remedy, and nothing else is called an alert', () => {
  const part = /^## Alerts$(.*?)^## /ms.exec(page)?.[1] ?? '';
  expect(headingsOf(part).sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  for (const text of part.split(/^### /m).slice(1)) {
    expect(text).toContain('**Cause**');
    expect(text).toContain('**Remedy**');
  }
});

it('every alert leads to its part', () => {
  const anchors = headingsOf(page).map(anchorOf);
  for (const { alert, annotations } of alerts) {
    expect(annotations['runbook']).toBe(`docs/run.md#${alert.toLowerCase()}`);
    expect(anchors).toContain(alert.toLowerCase());
  }
});

it('names no variable that no process reads', async () => {
  const readme = await readFile('README.md', 'utf8');
  const known = new Set([...OF_TOOLS, ...(readme.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [])]);
  const used = named(/\b[A-Z]+(?:_[A-Z]+)+\b/g);
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

it('names no npm script that is not there', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: object };
  const used = named(/npm run (?:-s )?([\w:]+)/g);
  expect(used.length).toBeGreaterThan(2);
  expect(used.filter((name) => !(name in scripts))).toEqual([]);
});

it('links to what is there', async () => {
  for (const target of named(/\]\(([^)\s]+)\)/g)) {
    const [file = '', anchor] = target.split('#');
    const path = file === '' ? PAGE : join('docs', file);
    await access(path);
    if (anchor === undefined) continue;
    expect([target, headingsOf(await readFile(path, 'utf8')).map(anchorOf)]).toEqual([
      target,
      expect.arrayContaining([anchor]),
    ]);
  }
});

it('has a place for the figures of npm run bench', () => {
  expect(page).toMatch(/^<!-- bench -->$[^]*^<!-- \/bench -->$/m);
});
