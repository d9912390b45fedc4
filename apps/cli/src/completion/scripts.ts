/**
 * What completes `muster` in a shell. The whole tree stands in the script: a key press should not have to wait for a
 * program to start. Each script walks the words before the cursor to the place that they name, over flags and their
 * values, and offers what may come there.
 */
import { type Candidate, type Place } from './tree.ts';

const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** Fish escapes inside of quotes. */
const fish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const lines = (...parts: readonly (string | readonly string[])[]): string => `${parts.flat().join('\n')}\n`;

/** `--title=` for a flag that takes a value. */
const marked = ({ name, takesValue }: Place['flags'][number]): string => `${name}${takesValue ? '=' : ''}`;

const withCommands = (places: readonly Place[]): Place[] =>
  places.filter(({ commands }) => commands.length > 0);
const withChoices = (places: readonly Place[]) =>
  places.flatMap(({ at, flags }) =>
    flags
      .filter(({ choices }) => choices.length > 0)
      .map(({ name, choices }) => ({ at: `${at} ${name}`, choices })),
  );

export function bashScript(places: readonly Place[]): string {
  const table = (name: string, rows: readonly { at: string; words: readonly string[] }[]): string[] => [
    `${name}() {`,
    '  case "$1" in',
    ...rows.map(({ at, words }) => `    ${single(at)}) printf '%s ' ${words.map(single).join(' ')} ;;`),
    '  esac',
    '}',
  ];
  return lines(
    '# Completion of muster in bash: source <(muster completion bash)',
    table(
      '_muster_commands',
      withCommands(places).map(({ at, commands }) => ({ at, words: commands.map(({ name }) => name) })),
    ),
    table(
      '_muster_flags',
      places.map(({ at, flags }) => ({ at, words: flags.map(marked) })),
    ),
    table(
      '_muster_choices',
      withChoices(places).map(({ at, choices }) => ({ at, words: choices })),
    ),
    `_muster() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at='' flag='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -* ]]; then
      if [[ " $(_muster_flags "$at")" == *" $word= "* ]]; then flag=$word; fi
    elif [[ " $(_muster_commands "$at")" == *" $word "* ]]; then
      at="\${at:+$at }$word"
    fi
  done
  local words
  if [[ -n $flag ]]; then
    words=$(_muster_choices "$at $flag")
  elif [[ $cur == -* ]]; then
    words=$(_muster_flags "$at")
    words=\${words//= / }
  else
    words=$(_muster_commands "$at")
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _muster muster`,
  );
}

export function zshScript(places: readonly Place[]): string {
  // A colon ends the name of a candidate.
  const candidate = ({ name, meaning }: Candidate): string =>
    single(`${name.replaceAll(':', '\\:')}:${meaning}`);
  const table = (name: string, rows: readonly { at: string; words: readonly string[] }[]): string[] => [
    `${name}() {`,
    '  reply=()',
    '  case "$1" in',
    ...rows.map(({ at, words }) => `    ${single(at)}) reply=(${words.join(' ')}) ;;`),
    '  esac',
    '}',
  ];
  return lines(
    '#compdef muster',
    '# Completion of muster in zsh: source <(muster completion zsh), or this as _muster in a folder of $fpath',
    table(
      '_muster_commands',
      withCommands(places).map(({ at, commands }) => ({ at, words: commands.map(candidate) })),
    ),
    table(
      '_muster_flags',
      places.map(({ at, flags }) => ({
        at,
        words: flags.map((flag) => candidate({ ...flag, name: marked(flag) })),
      })),
    ),
    table(
      '_muster_choices',
      withChoices(places).map(({ at, choices }) => ({ at, words: choices.map(single) })),
    ),
    `_muster() {
  local at='' flag='' word
  local -a reply
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -* ]]; then
      _muster_flags "$at"
      if (( \${reply[(I)\${word}=:*]} )); then flag=$word; fi
    else
      _muster_commands "$at"
      if (( \${reply[(I)\${word}:*]} )); then at="\${at:+$at }$word"; fi
    fi
  done
  if [[ -n $flag ]]; then
    _muster_choices "$at $flag"
    if (( $#reply )); then compadd -a reply; else _files; fi
  elif [[ \${words[CURRENT]} == -* ]]; then
    _muster_flags "$at"
    reply=("\${(@)reply/=:/:}")
    _describe -o flag reply
  else
    _muster_commands "$at"
    if (( $#reply )); then _describe command reply; else _files; fi
  fi
}
if [[ $funcstack[1] == _muster ]]; then _muster "$@"; else compdef _muster muster; fi`,
  );
}

export function fishScript(places: readonly Place[]): string {
  const table = (
    name: string,
    rows: readonly { at: string; pairs: readonly (readonly [string, string])[] }[],
  ): string[] => [
    `function ${name}`,
    '  switch "$argv[1]"',
    ...rows.flatMap(({ at, pairs }) => [
      `    case ${fish(at)}`,
      `      printf '%s\\t%s\\n' ${pairs.map(([word, meaning]) => `${fish(word)} ${fish(meaning)}`).join(' ')}`,
    ]),
    '  end',
    'end',
  ];
  return lines(
    '# Completion of muster in fish: muster completion fish | source',
    table(
      '__muster_commands',
      withCommands(places).map(({ at, commands }) => ({
        at,
        pairs: commands.map(({ name, meaning }): [string, string] => [name, meaning]),
      })),
    ),
    table(
      '__muster_flags',
      places.map(({ at, flags }) => ({
        at,
        pairs: flags.map((flag): [string, string] => [marked(flag), flag.meaning]),
      })),
    ),
    table(
      '__muster_choices',
      withChoices(places).map(({ at, choices }) => ({
        at,
        pairs: choices.map((choice): [string, string] => [choice, '']),
      })),
    ),
    `function __muster
  set -l at ''
  set -l flag ''
  set -l typed (commandline -opc)
  for word in $typed[2..-1]
    if test -n "$flag"
      set flag ''
    else if string match -q -- '-*' $word
      if contains -- "$word=" (__muster_flags "$at" | string split -f 1 \\t)
        set flag $word
      end
    else if contains -- $word (__muster_commands "$at" | string split -f 1 \\t)
      set at (string trim -- "$at $word")
    end
  end
  set -l current (commandline -ct)
  set -l found
  if test -n "$flag"
    set found (__muster_choices "$at $flag")
  else if string match -q -- '-*' $current
    set found (__muster_flags "$at" | string replace -r '=(?=\\t)' '')
  else
    set found (__muster_commands "$at")
  end
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path $current
  end
end
complete -c muster -f -a '(__muster)'`,
  );
}
