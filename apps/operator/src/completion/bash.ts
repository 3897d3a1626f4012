import { shellQuoted } from '#operations/wording.js';
import { type Completions, takenBy } from './completions.js';

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
