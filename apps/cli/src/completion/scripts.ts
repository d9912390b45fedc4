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
/** By where it is: behind a flag, or as the word of that number that needs none. */
const worths = (places: readonly Place[]) =>
  places.flatMap(({ at, flags, words }) => [
    ...flags.map(({ name, choices, thing }) => ({ at: `${at} ${name}`, choices, thing })),
    ...words.map((worth, number) => ({ ...worth, at: `${at} ${number}` })),
  ]);
const withChoices = (places: readonly Place[]) => worths(places).filter(({ choices }) => choices.length > 0);
const withThings = (places: readonly Place[]) =>
  worths(places).flatMap(({ at, thing }) => (thing === undefined ? [] : [{ at, thing }]));

/** Walks the words to their place and looks into the tables of the script, which stand before it. */
const bashCompleter = `_muster() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at='' flag='' word count=0 i
  # A shell that splits at = makes three words of --flag=value.
  if [[ $cur == = ]]; then cur=''; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == = ]]; then
      continue
    elif [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -* ]]; then
      if [[ " $(_muster_flags "$at")" == *" $word= "* ]]; then flag=$word; fi
    elif [[ " $(_muster_commands "$at")" == *" $word "* ]]; then
      at="\${at:+$at }$word" count=0
    else
      ((count++))
    fi
  done
  if [[ \${COMP_WORDS[COMP_CWORD]} == = ]]; then flag=\${COMP_WORDS[COMP_CWORD-1]}; fi
  local words='' thing=''
  if [[ -n $flag ]]; then
    words=$(_muster_choices "$at $flag") thing=$(_muster_things "$at $flag")
  elif [[ $cur == -* ]]; then
    words=$(_muster_flags "$at")
    words=\${words//= / }
  else
    words=$(_muster_commands "$at")$(_muster_choices "$at $count") thing=$(_muster_things "$at $count")
  fi
  if [[ -z $thing ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  # No files in their place, and in the order in which they come.
  compopt +o default -o nosort 2>/dev/null
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <("\${COMP_WORDS[0]}" completion values -- "\${thing% }" "$cur" "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
  # What each is stands beside it while there is a choice, and is never typed (37 and 42: one after the other is).
  if ((\${#COMPREPLY[@]} == 1)) || [[ $COMP_TYPE == 37 || $COMP_TYPE == 42 ]]; then
    COMPREPLY=("\${COMPREPLY[@]%%$'\t'*}")
  else
    COMPREPLY=("\${COMPREPLY[@]/$'\t'/  }")
  fi
}
complete -o default -F _muster muster`;

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
    table(
      '_muster_things',
      withThings(places).map(({ at, thing }) => ({ at, words: [thing] })),
    ),
    bashCompleter,
  );
}

const zshCompleter = `_muster_values() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\t'*}//:/\\:}:\${line#*$'\t'}")
  done < <("\${words[1]}" completion values -- "$1" "$PREFIX" "\${(@)words[2,CURRENT-1]}" 2>/dev/null)
  # As they come, and also where it is another word than was begun.
  if (( $#found )); then _describe -V value found -U; fi
}
_muster() {
  local at='' flag='' word
  integer count=0
  local -a reply
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -* ]]; then
      _muster_flags "$at"
      if (( \${reply[(I)\${word}=:*]} )); then flag=$word; fi
    else
      _muster_commands "$at"
      if (( \${reply[(I)\${word}:*]} )); then at="\${at:+$at }$word" count=0; else (( count++ )); fi
    fi
  done
  local place="$at $count"
  if [[ -z $flag && $PREFIX == --*=* ]]; then
    flag=\${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    place="$at $flag"
  elif [[ $PREFIX == -* ]]; then
    _muster_flags "$at"
    reply=("\${(@)reply/=:/:}")
    _describe -o flag reply
    return
  else
    _muster_commands "$at"
    if (( $#reply )); then
      _describe command reply
      return
    fi
  fi
  _muster_things "$place"
  if (( $#reply )); then
    _muster_values "$reply[1]"
    return
  fi
  _muster_choices "$place"
  if (( $#reply )); then compadd -a reply; else _files; fi
}
if [[ $funcstack[1] == _muster ]]; then _muster "$@"; else compdef _muster muster; fi`;

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
    table(
      '_muster_things',
      withThings(places).map(({ at, thing }) => ({ at, words: [single(thing)] })),
    ),
    zshCompleter,
  );
}

const fishCompleter = `function __muster
  set -l at ''
  set -l flag ''
  set -l count 0
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
      set count 0
    else
      set count (math $count + 1)
    end
  end
  set -l current (commandline -ct)
  set -l begun $current
  set -l before ''
  if test -z "$flag"; and string match -q -- '--*=*' $current
    set flag (string split -m 1 = -- $current)[1]
    set begun (string split -m 1 = -- $current)[2]
    set before "$flag="
  end
  set -l place "$at $count"
  set -l found
  if test -n "$flag"
    set place "$at $flag"
  else if string match -q -- '-*' $current
    set found (__muster_flags "$at" | string replace -r '=(?=\\t)' '')
  else
    set found (__muster_commands "$at")
  end
  if test (count $found) -eq 0
    set -l thing (__muster_things $place | string split -f 1 \\t)
    if test -n "$thing"
      $typed[1] completion values -- $thing "$begun" $typed[2..-1] 2>/dev/null | string replace -r '^' -- "$before"
      return
    end
    set found (__muster_choices $place | string replace -r '^' -- "$before")
  end
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path $current
  end
end
complete -c muster -k -f -a '(__muster)'`;

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
    table(
      '__muster_things',
      withThings(places).map(({ at, thing }) => ({ at, pairs: [[thing, '']] })),
    ),
    fishCompleter,
  );
}
