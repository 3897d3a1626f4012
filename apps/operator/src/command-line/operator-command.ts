import { Command, type ErrorOptions, type Help, type Option, type ParseOptionsResult } from 'commander';
import { scopeTokens } from '#oauth/scope.js';
import { printableLines, wantsJson } from './output.js';
import { bold, styled } from './style.js';

/** Columns below which text of the help is not wrapped. */
const NARROWEST = 20;
/** Columns of the help where there is no terminal. */
const WITHOUT_TERMINAL = 80;

/** The id of a grant is base64url, which may begin with two hyphens. */
const HYPHENATED_ID = /^--[\w-]{41}$/;

/** No command has options of one hyphen but this one. */
const HELP = '-h';

/** The command as it was started, for hints that can be copied: by npm in a checkout; an image has no npm. */
export function invocation(env: NodeJS.ProcessEnv = process.env): string {
  return /^\W?(?:operator|node dev\/operator)\b/.test(env.npm_lifecycle_script ?? '')
    ? 'npx operator'
    : 'operator';
}

/**
 * A command, or a group of commands, with the rules that all of them share: unknown commands, unknown options and repeated
 * single values are refused; every refusal names the help; nothing ends the process except `main.ts`.
 */
export class OperatorCommand extends Command {
  declare parent: OperatorCommand | null;
  declare readonly commands: readonly OperatorCommand[];
  /** Examples of the help, each without the name of the program. */
  readonly exampleLines: string[] = [];

  constructor(name?: string) {
    super(name);
    // A command reads its options itself; otherwise its parent would read, and drop, the -- before its arguments.
    this.exitOverride().helpCommand(false).enablePositionalOptions();
    this.configureHelp({
      styleTitle: bold,
      minWidthToWrap: NARROWEST,
      subcommandDescription: summaryOf,
    });
    this.configureOutput({
      // With --json, reportFailure writes the error.
      writeErr: (text) => void (wantsJson() || process.stderr.write(text)),
      outputError: (text, write) => write(text.replace(/^error:/, styled('red', 'error:', process.stderr))),
    });
    // Only a group gets here: a command that does something takes its operands as arguments.
    this.on('command:*', ([unknown = '']: string[]) => this.refuseUnknownCommand(unknown));
  }

  override createCommand(name?: string): OperatorCommand {
    return new OperatorCommand(name);
  }

  /** Refuses a second value of an option that takes one; Commander would silently let it replace the first. */
  override addOption(option: Option): this {
    super.addOption(option);
    if (!option.required) return this;
    let given = 0;
    return this.on(`option:${option.name()}`, () => {
      given += 1;
      const collectsValues = Array.isArray(this.getOptionValue(option.attributeName()));
      if (given > 1 && !collectsValues) this.error(`error: ${option.long} is given twice: give it once`);
    });
  }

  /**
   * Takes an id or a name that begins with a hyphen as an argument: Commander takes it for an unknown option. One that begins
   * with two hyphens follows `--`, unless it is the id of a grant.
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
    // Commander's text for an argument names neither what it is nor what was expected of it.
    const prefix = "error: command-argument value '";
    const clear = message.startsWith(prefix)
      ? `error: '${message.slice(prefix.length).replace("' is invalid for argument '", "' is invalid for '")}`
      : message;
    // Commander quotes what was typed: control characters of pasted text must not reach the terminal.
    return super.error(printableLines(clear), options);
  }

  refuseUnknownCommand(name: string): never {
    const known = this.commands.map((command) => command.name()).join(', ');
    // Quoted as JSON: control characters of pasted text must not reach the terminal.
    const quoted = JSON.stringify(name.slice(0, 200)).slice(1, -1);
    return this.error(`error: unknown command '${quoted}'\n(The commands are ${known})`);
  }

  /** Adds `--json`. */
  jsonOption(description = 'print JSON'): this {
    return this.option('--json', description);
  }

  /**
   * Adds text below the options, which the help wraps at the width of the terminal.
   *
   * @param text paragraphs, items and lines to copy, as `wrapped` tells them apart
   */
  notes(text: string): this {
    const width = () => this.configureOutput().getOutHelpWidth?.() ?? WITHOUT_TERMINAL;
    return this.addHelpText('after', () => `\n${wrapped(text, width(), this.createHelp())}`);
  }

  /** Adds examples below the options and notes. @param lines each without the name of the program */
  examples(...lines: readonly string[]): this {
    this.exampleLines.push(...lines);
    const heading = lines.length === 1 ? 'Example' : 'Examples';
    // Never wrapped, so that they can be copied.
    const copied = lines.map((line) => `  $ ${invocation()} ${line}`);
    return this.addHelpText('after', `\n${[bold(`${heading}:`), ...copied].join('\n')}`);
  }

  /** This command as it is typed. */
  private commandLine(): string {
    if (!this.parent) return invocation();
    return `${this.parent.commandLine()} ${this.name()}`;
  }
}

/** An item of a list: a term, and its description after two spaces or more. */
const ITEM = /^( {2}\S+ {2,})([^ ].*)$/;

/** Wraps each line at `width`: an item under its description, a line to copy, which begins with a space, not at all. */
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

/** A line of the list of commands. A group names its own commands. */
function summaryOf(command: Command): string {
  const names = command.commands.map((one) => one.name()).join(', ');
  return names === '' ? command.description() : `${command.description()}: ${names}`;
}

/** Value parser of an option that may be repeated. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

/** Value parser of an option that takes scopes, separated by spaces or repeated. */
export function collectScopes(value: string, previous: readonly string[] = []): string[] {
  return scopeTokens([...previous, value].join(' '));
}
