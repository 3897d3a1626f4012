/** Log levels of pino. */
const WARNING = 40;
const ERROR = 50;

/** Interval in which a repeated line is shown once, because a waiting app logs every second. */
const REPEAT_INTERVAL_MS = 30_000;

/**
 * Shows warnings, errors, and lines that are not JSON, such as the stack of a crash.
 * @returns a function that receives the log in chunks
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
      if (!important || (important === last.line && now() - last.at < REPEAT_INTERVAL_MS)) continue;
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
