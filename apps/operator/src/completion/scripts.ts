import type { Argument, Command, Option } from 'commander';
import { shellQuoted } from '#operations/wording.js';

type Value =
  { readonly kind: 'words'; readonly words: readonly string[] } | { readonly kind: 'file' | 'text' };

export interface Completions {
  /** Names of the command and its parents, separated by spaces; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly {
    readonly name: string;
    readonly description: string;
    readonly value?: Value;
  }[];
  readonly argument?: Value;
}

export function completionsOf(command: Command, path = ''): Completions[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command);
  const [argument] = command.registeredArguments;
  const own: Completions = {
    path,
    subcommands: command.commands.map((subcommand) => ({
      name: subcommand.name(),
      description: help.subcommandDescription(subcommand),
    })),
    options: options.map((option) => ({
      name: option.long ?? option.flags,
      description: option.description,
      ...((option.required || option.optional) && { value: valueOf(option, option.flags) }),
    })),
    ...(argument && { argument: valueOf(argument, argument.name()) }),
  };
  const below = command.commands.flatMap((subcommand) =>
    completionsOf(subcommand, `${path} ${subcommand.name()}`.trim()),
  );
  return [own, ...below];
}

/** @param name the name of an argument, or the flags of an option, like `--require-par <true|false>` */
function valueOf({ argChoices }: Argument | Option, name: string): Value {
  const [, placeholder = name] = /<([^<>]+)>/.exec(name) ?? [];
  const words = argChoices ?? (placeholder.includes('|') ? placeholder.split('|') : []);
  if (words.length > 0) return { kind: 'words', words };
  return { kind: /^(?:file|path|folder)$/i.test(placeholder) ? 'file' : 'text' };
}

/** Returns the possible words, or a marker: `@file` for file names, `@text` for text without suggestions. */
const takenBy = (value: Value): string => (value.kind === 'words' ? value.words.join(' ') : `@${value.kind}`);

/** Completion script for bash 4 and newer, which does not need the package bash-completion. */
export function bashScript(all: readonly Completions[]): string {
  return `\
# bash completion of the command operator
_operator() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' option='' word key
  local -A subcommands=(
${all.map(({ path, subcommands }) => entry(path, subcommands.map(({ name }) => name).join(' '))).join('')}  )
  local -A options=(
${all.map(({ path, options }) => entry(path, options.map(({ name }) => name).join(' '))).join('')}  )
  # Values of an option, or of the first argument of a command: words, @file or @text
  local -A values=(
${all.flatMap(valuesOf).join('')}  )

  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == '=' || ( -z $path && $word == help ) ]]; then
      continue
    elif [[ $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      [[ \${values["/$path $word"]} ]] && option=$word
    elif [[ " \${subcommands["/$path"]} " == *" $word "* ]]; then
      path="\${path:+$path }$word"
    fi
  done

  key="/$path \${option:-argument}"
  [[ $option || $current != -* ]] || key=''
  COMPREPLY=()
  case "\${key:+\${values[$key]}}" in
    @file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    @text) ;;
    ?*) mapfile -t COMPREPLY < <(compgen -W "\${values[$key]}" -- "$current") ;;
    *)
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "\${options["/$path"]}" -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -W "\${subcommands["/$path"]}" -- "$current")
      fi
      ;;
  esac
}
complete -F _operator operator
`;
}

function valuesOf({ path, options, argument }: Completions): string[] {
  const taken = options.flatMap(({ name, value }) =>
    value ? [entry(`${path} ${name}`, takenBy(value))] : [],
  );
  return argument ? [...taken, entry(`${path} argument`, takenBy(argument))] : taken;
}

/** Keys begin with a slash, because bash does not permit empty keys. Omits entries without a value. */
const entry = (key: string, value: string): string =>
  value === '' ? '' : `    [${shellQuoted(`/${key}`)}]=${shellQuoted(value)}\n`;

export function zshScript(all: readonly Completions[]): string {
  return `\
#compdef operator
_operator() {
  local command='' option='' word kind
  local -a subcommands options
  local -A taken
  local -i at=2 deeper=1

  while (( deeper )); do
    deeper=0
    case $command in
${all.map(branch).join('')}    esac
    while (( at < CURRENT )); do
      word=$words[at]
      (( at += 1 ))
      if [[ -z $command && $word == help ]]; then
        continue
      elif [[ -n $option ]]; then
        option=''
      elif [[ $word == -* ]]; then
        [[ -n $taken[$word] ]] && option=$word
      elif (( \${subcommands[(I)\${(b)word}:*]} )); then
        command="\${command:+$command }$word"
        deeper=1
        break
      fi
    done
  done

  kind=$taken[\${option:-argument}]
  [[ -z $option && $PREFIX == -* ]] && kind=''
  case $kind in
    @file) _files ;;
    @text) _message "\${option:-argument}" ;;
    ?*) compadd -- \${=kind} ;;
    *)
      if [[ $PREFIX == -* ]]; then
        _describe -o option options
      else
        _describe -t commands command subcommands
      fi
      ;;
  esac
}

if [[ $funcstack[1] == _operator ]]; then
  _operator "$@"
else
  compdef _operator operator
fi
`;
}

function branch({ path, subcommands, options, argument }: Completions): string {
  const values = options.flatMap(({ name, value }) =>
    value ? [`${shellQuoted(name)} ${shellQuoted(takenBy(value))}`] : [],
  );
  if (argument) values.push(`argument ${shellQuoted(takenBy(argument))}`);
  return `\
      ${shellQuoted(path)})
        subcommands=(${subcommands.map(described).join(' ')})
        options=(${options.map(described).join(' ')})
        taken=(${values.join(' ')})
        ;;
`;
}

/** Returns `name:description`, the format of `_describe`. */
const described = ({ name, description }: { name: string; description: string }): string =>
  shellQuoted(`${name}:${description.replaceAll(':', String.raw`\:`)}`);
