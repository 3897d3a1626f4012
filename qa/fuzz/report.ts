import type { Progress, Result } from './campaign.js';
import { mib } from './process-oracle.js';
import { APPS } from './test-environment.js';

const count = (value: number) => Math.round(value).toLocaleString('en').replaceAll(',', ' ');
const clock = (milliseconds: number) => {
  const seconds = Math.ceil(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

const MAX_LENGTH = 1_500;

export function progressLine({ requests, findings, elapsed, left }: Progress): string {
  const rate = elapsed > 0 ? requests / (elapsed / 1000) : 0;
  const end = left === undefined ? 'warming up' : `${clock(left)} left`;
  return `${count(requests)} requests, ${rate.toFixed(0)}/s, ${findings} findings, ${end}`;
}

/** Replaces control characters and truncates the text. `--json` prints the full text. */
function short(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '·');
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}

export function reportOf(result: Result): string {
  const { seed, requests, seconds, outcomes, findings, memory } = result;
  const rows = [...outcomes].toSorted(([a], [b]) => a.localeCompare(b));
  const width = Math.max(0, ...rows.map(([where]) => where.length));
  const table = rows.map(([where, counts]) => {
    const parts = [...counts].toSorted(([a], [b]) => a.localeCompare(b));
    return `${where.padEnd(width)}  ${parts.map(([outcome, times]) => `${outcome}: ${times}`).join('  ')}`;
  });
  const memories = (memory ? APPS : []).map((app) => {
    const [before, after] = [memory?.before[app], memory?.after[app]];
    if (!before || !after) return app;
    return `${app.padEnd(width)}  live ${mib(before.live)} → ${mib(after.live)}  resident ${mib(before.rss)} → ${mib(after.rss)}`;
  });
  const found = findings.map(
    ({ rule, where, detail, times, recipe }, n) =>
      `${n + 1}. ${rule}: ${where} (${times} times)\n   ${short(detail)}\n   sent: ${short(JSON.stringify(recipe))}`,
  );
  return [
    ...table,
    '',
    ...memories,
    '',
    ...found,
    `${count(requests)} requests in ${clock(seconds * 1000)}, seed ${seed}: ${findings.length === 0 ? 'no findings' : `${findings.length} findings`}`,
    '',
  ].join('\n');
}

export function jsonOf({ outcomes, ...result }: Result): string {
  const counts = Object.fromEntries([...outcomes].map(([where, all]) => [where, Object.fromEntries(all)]));
  return `${JSON.stringify({ ...result, outcomes: counts }, null, 2)}\n`;
}
