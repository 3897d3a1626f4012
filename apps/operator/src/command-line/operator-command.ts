import { Command, type ErrorOptions, type Help, type Option, type ParseOptionsResult } from 'commander';
import { scopeTokens } from '#oauth/scope.js';
import { printableLines, wantsJson } from './output.js';
import { bold, styled } from './table.js';

const NARROWEST = 20;
/** Width of the help without a terminal. */
const WITHOUT_TERMINAL = 80;

/** Grant ids are base64url, and may begin with two hyphens. */
const HYPHENATED_ID = /^--[\w-]{41}$/;

const HELP = '-h';

/**
 * Returns the name to type: `npx operator` if this program was started by that command or `npm run migrate`, otherwise
 * `operator`.
 */
export function invocation(env: NodeJS.ProcessEnv = process.env): string {
  return /^\W?(?:operator|node local\/operator)\b/.test(env.npm_lifecycle_script ?? '')
    ? 'npx operator'
    : 'operator';
}

export class OperatorCommand extends Command {
  declare parent: OperatorCommand | null;
  declare readonly commands: readonly OperatorCommand[];
  readonly exampleLines: string[] = [];

  constructor(name?: string) {
    super(name);
    // Without positional options, the parent parses the options of a command and drops the `--` before its arguments.
    this.exitOverride().helpCommand(false).enablePositionalOptions();
    this.configureHelp({
      styleTitle: bold,
      minWidthToWrap: NARROWEST,
      subcommandDescription: summaryOf,
    });
    this.configureOutput({
      writeErr: (text) => void (wantsJson() || process.stderr.write(text)),
      outputError: (text, write) => write(text.replace(/^error:/, styled('red', 'error:', process.stderr))),
    });
    // Only groups emit this event: other commands take operands as arguments.
    this.on('command:*', ([unknown = '']: string[]) => this.refuseUnknownCommand(unknown));
  }

  override createCommand(name?: string): OperatorCommand {
    return new OperatorCommand(name);
  }

  /** Rejects a repeated option that takes one value: Commander would silently keep the last value. */
  override addOption(option: Option): this {
    super.addOption(option);
    if (!option.required) return this;
    let count = 0;
    return this.on(`option:${option.name()}`, () => {
      count += 1;
      const collectsValues = Array.isArray(this.getOptionValue(option.attributeName()));
      if (count > 1 && !collectsValues) this.error(`error: ${option.long} is given twice: give it once`);
    });
  }

  /**
   * Accepts an id that begins with a hyphen, which Commander treats as an option. An argument that begins with two
   * hyphens needs a preceding `--`, unless it is a grant id.
   */
  override parseOptions(args: string[]): ParseOptionsResult {
    const { operands, unknown } = super.parseOptions(args);
    if (this.registeredArguments.length === 0) return { operands, unknown };
    const end = unknown.indexOf('--');
    const [before, after] = end < 0 ? [unknown, []] : [unknown.slice(0, end), unknown.slice(end + 1)];
    const isOption = (arg: string) => arg === HELP || (arg.startsWith('--') && !HYPHENATED_ID.test(arg));
    if (before.some(isOption)) return { operands, unknown };
    return { operands: [...operands, ...before, ...after], unknown: [] };
  }

  override error(message: string, options?: ErrorOptions): never {
    this.showHelpAfterError(`See:\n  ${this.commandLine()} --help`);
    const prefix = "error: command-argument value '";
    const clear = message.startsWith(prefix)
      ? `error: '${message.slice(prefix.length).replace("' is invalid for argument '", "' is invalid for '")}`
      : message;
    // Commander quotes the input, whose control characters must not reach the terminal.
    return super.error(printableLines(clear), options);
  }

  refuseUnknownCommand(name: string): never {
    const known = this.commands.map((command) => command.name()).join(', ');
    const quoted = JSON.stringify(name.slice(0, 200)).slice(1, -1);
    return this.error(`error: unknown command '${quoted}'\n(The commands are ${known})`);
  }

  jsonOption(description = 'print JSON'): this {
    return this.option('--json', description);
  }

  notes(text: string): this {
    const width = () => this.configureOutput().getOutHelpWidth?.() ?? WITHOUT_TERMINAL;
    return this.addHelpText('after', () => `\n${wrapped(text, width(), this.createHelp())}`);
  }

  examples(...lines: readonly string[]): this {
    this.exampleLines.push(...lines);
    const heading = lines.length === 1 ? 'Example' : 'Examples';
    const copied = lines.map((line) => `  $ ${invocation()} ${line}`);
    return this.addHelpText('after', `\n${[bold(`${heading}:`), ...copied].join('\n')}`);
  }

  private commandLine(): string {
    if (!this.parent) return invocation();
    return `${this.parent.commandLine()} ${this.name()}`;
  }
}

/** List item: a term, two or more spaces, and a description. */
const ITEM = /^( {2}\S+ {2,})([^ ].*)$/;

/** Wraps text, and aligns the description of a list item. Does not wrap other lines that begin with a space. */
function wrapped(text: string, width: number, help: Help): string {
  return text
    .split('\n')
    .map((line) => {
      const [, term = '', description = line] = ITEM.exec(line) ?? [];
      if (line.startsWith(' ') && term === '') return line;
      return (
        term + help.boxWrap(description, width - term.length).replaceAll('\n', `\n${' '.repeat(term.length)}`)
      );
    })
    .join('\n');
}

function summaryOf(command: Command): string {
  const names = command.commands.map((subcommand) => subcommand.name()).join(', ');
  return names === '' ? command.description() : `${command.description()}: ${names}`;
}

export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

export function collectScopes(value: string, previous: readonly string[] = []): string[] {
  return scopeTokens([...previous, value].join(' '));
}
