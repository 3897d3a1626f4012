import { shellQuoted } from '#operations/wording.js';
import { type Completions, takenBy } from './completions.js';

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
