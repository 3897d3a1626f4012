/** Levels of pino's log lines, by the numbers that stand in them. */
const WARNING = 40;
const ERROR = 50;

/** For so many milliseconds the same line is not shown again: an app says each second what it still waits for. */
const QUIET = 30_000;

/**
 * Picks out of an app's log what its developer has to see: warnings, errors, and whatever is no log line, such as the
 * stack of a crash.
 *
 * @param now milliseconds, of any clock
 * @returns takes text as it comes, in pieces of any length
 */
export function importantLines(
  app: string,
  show: (line: string) => void,
  now: () => number = Date.now,
): (text: string) => void {
  let rest = '';
  let last = { line: '', at: -Infinity };
  return (text) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const important = importantPart(line);
      if (!important || (important === last.line && now() - last.at < QUIET)) continue;
      last = { line: important, at: now() };
      show(`${app}: ${important}`);
    }
  };
}

function importantPart(line: string): string | undefined {
  if (!line.startsWith('{')) return line.trim() || undefined;
  try {
    const { level, msg, err } = JSON.parse(line) as {
      level?: number;
      msg?: string;
      err?: { message?: string };
    };
    if (level === undefined || level < WARNING) return undefined;
    const text = [msg, err?.message === msg ? undefined : err?.message].filter(Boolean).join(': ');
    return `${level >= ERROR ? 'error' : 'warning'}: ${text}`;
  } catch {
    return line;
  }
}
