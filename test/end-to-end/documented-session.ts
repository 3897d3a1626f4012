import { runCommand } from '#local/servers/run-command.js';

export interface DocumentedCommand {
  readonly section: string;
  readonly line: number;
  readonly command: string;
  readonly output: string;
}

/** Event between the commands, from a comment in the document such as `<!-- the user allows -->`. */
interface DocumentedEvent {
  readonly section: string;
  readonly line: number;
  readonly event: string;
}

export type DocumentedStep = DocumentedCommand | DocumentedEvent;

/** Parses a document: commands in ```console blocks, which begin with `$ `, their output, and comments as events. */
export function documentedCommands(markdown: string): DocumentedStep[] {
  const steps: DocumentedStep[] = [];
  let last = { section: '', line: 0, command: '', output: '' };
  let section = '';
  let inside = false;
  for (const [index, text] of markdown.split('\n').entries()) {
    const line = index + 1;
    const [, event] = /^<!-- (.*) -->$/.exec(text) ?? [];
    if (text.startsWith('```')) inside = text === '```console';
    else if (event !== undefined) steps.push({ section, line, event });
    else if (!inside) section = /^## (.*)$/.exec(text)?.[1] ?? section;
    else if (text.startsWith('$ ')) {
      last = { section, line, command: text.slice(2), output: '' };
      steps.push(last);
    } else {
      if (last.command.endsWith('\\') && last.output === '') last.command += `\n${text}`;
      else last.output += `${text}\n`;
    }
  }
  return steps;
}

const VALUES = [
  String.raw`sc_[a-z2-7]{24}`,
  String.raw`scs_[\w-]{43}`,
  String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
  String.raw`\b[0-9a-f]{8}\b`,
  String.raw`(?<![\w-])[\w-]{43}(?![\w-])`,
  String.raw`(?<![\w-])[\w-]{24}(?![\w-])`,
];
/** Patterns of times. Their values are not compared. */
const PASSING = [
  String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`,
  String.raw`\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?`,
  String.raw`\d\d:\d\d:\d\d`,
];

/**
 * Runs a document's commands in order. Values in the document are examples. The first output with a value determines
 * the actual value, which replaces the example in later commands.
 */
export class DocumentedSession {
  private readonly actual = new Map<string, string>();

  constructor(
    private readonly setUp: string,
    private readonly cwd: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  set(example: string, actual: string): void {
    this.actual.set(example, actual);
  }

  get(example: string): string {
    const actual = this.actual.get(example);
    if (actual === undefined) throw new Error(`the document has not shown ${example} yet`);
    return actual;
  }

  newest(example: RegExp): string {
    return [...this.actual].findLast(([name]) => example.test(name))?.[1] ?? '';
  }

  /** Runs a command. @throws Error with the output if the command fails, or the output differs from the document */
  async run({ command, output, line }: DocumentedCommand): Promise<void> {
    const { code, stdout, stderr } = await this.shell(this.translated(command));
    const printed = `${stderr}${stdout}`;
    const { pattern, examples } = this.patternOf(output);
    const match = pattern.exec(printed.replaceAll(/[ \t]+$/gm, '').trimEnd());
    if (code !== 0 || !match)
      throw new Error(
        `line ${line}: ${command}\nexit code ${code}; it printed:\n${printed}\nand not:\n${output}`,
      );
    for (const [index, example] of examples.entries()) this.actual.set(example, match[index + 1] ?? '');
  }

  shell(line: string): ReturnType<typeof runCommand> {
    return runCommand('bash', ['-c', `${this.setUp}\n${line}`], {
      cwd: this.cwd,
      env: this.env,
      timeout: 120_000,
    });
  }

  private translated(text: string): string {
    return [...this.actual].reduce((result, [example, actual]) => result.replaceAll(example, actual), text);
  }

  /** Converts an output to a pattern: `…` matches any text, and a line with only `…` matches any lines. */
  private patternOf(output: string): { pattern: RegExp; examples: string[] } {
    const examples: string[] = [];
    const known = [...this.actual.keys()].map(escaped);
    const special = new RegExp(['^…\\n', '…', ' +', ...known, ...VALUES, ...PASSING].join('|'), 'gm');
    let source = '';
    let end = 0;
    const text = output.trimEnd();
    for (const match of text.matchAll(special)) {
      source += escaped(text.slice(end, match.index)) + this.partOf(match[0], examples);
      end = match.index + match[0].length;
    }
    return { pattern: new RegExp(`^${source}${escaped(text.slice(end))}$`), examples };
  }

  private partOf(part: string, examples: string[]): string {
    if (part.startsWith('…') && part.includes('\n')) return '(?:.*\\n)*?';
    if (part === '…') return '[^]*?';
    if (/^ +$/.test(part)) return ' +';
    const known = this.actual.get(part);
    if (known !== undefined) return escaped(known);
    const earlier = examples.indexOf(part);
    if (earlier >= 0) return `\\${earlier + 1}`;
    const value = VALUES.find((pattern) => new RegExp(`^${pattern}$`).test(part));
    if (value === undefined)
      return PASSING.find((pattern) => new RegExp(`^${pattern}$`).test(part)) ?? escaped(part);
    examples.push(part);
    return `(${value})`;
  }
}

const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
