/**
 * The completion scripts for shells. Each script contains the whole command tree, so that a key press does
 * not wait for a program to start.
 * A script reads the words before the cursor, skips flags and their values, and offers the candidates at that
 * position.
 */
import { type CommandPosition } from './tree.ts';

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** Fish interprets backslash escapes within single quotes, so backslashes are escaped. */
const quoteForFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Returns `--title=` for a flag that takes a value. */
const flagWithEquals = ({ name, takesValue }: CommandPosition['flags'][number]): string =>
  `${name}${takesValue ? '=' : ''}`;

/**
 * A row of the table in a completion script: a key, and the candidates to offer. The key consists of the kind
 * of candidate and the position on the command line.
 */
interface CompletionTableRow {
  readonly key: string;
  readonly candidates: readonly { readonly name: string; readonly meaning?: string }[];
}

const completionTableRows = (positions: readonly CommandPosition[]): CompletionTableRow[] =>
  positions
    .flatMap(({ commandPath, commands, flags, positionals }): CompletionTableRow[] => [
      { key: `commands ${commandPath}`, candidates: commands },
      {
        key: `flags ${commandPath}`,
        candidates: flags.map((flag) => ({ ...flag, name: flagWithEquals(flag) })),
      },
      // The key of a value has the name of its flag, or the number of its argument.
      ...[...flags, ...positionals.map((word, number) => ({ ...word, name: number }))].flatMap(
        ({ name, choices, recordKind }) => [
          { key: `choices ${commandPath} ${name}`, candidates: choices.map((choice) => ({ name: choice })) },
          {
            key: `things ${commandPath} ${name}`,
            candidates: recordKind === undefined ? [] : [{ name: recordKind }],
          },
        ],
      ),
    ])
    .filter(({ candidates }) => candidates.length > 0);

/**
 * The shell function that finds the position on the command line and looks it up in the table. The table
 * precedes this function in the script.
 */
const bashCompletionFunction = `_muster() {
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
      if [[ " $(_muster_offers "flags $at")" == *" $word= "* ]]; then flag=$word; fi
    elif [[ " $(_muster_offers "commands $at")" == *" $word "* ]]; then
      at="\${at:+$at }$word" count=0
    else
      ((count++))
    fi
  done
  if [[ \${COMP_WORDS[COMP_CWORD]} == = ]]; then flag=\${COMP_WORDS[COMP_CWORD-1]}; fi
  local words='' thing=''
  if [[ -n $flag ]]; then
    words=$(_muster_offers "choices $at $flag") thing=$(_muster_offers "things $at $flag")
  elif [[ $cur == -* ]]; then
    words=$(_muster_offers "flags $at")
    words=\${words//= / }
  else
    words=$(_muster_offers "commands $at")$(_muster_offers "choices $at $count") thing=$(_muster_offers "things $at $count")
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

export const buildBashScript = (positions: readonly CommandPosition[]): string => `\
# Completion of muster in bash: source <(muster completion bash)
_muster_offers() {
  case "$1" in
${completionTableRows(positions)
  .map(
    ({ key, candidates }) =>
      `    ${quoteForShell(key)}) printf '%s ' ${candidates.map(({ name }) => quoteForShell(name)).join(' ')} ;;`,
  )
  .join('\n')}
  esac
}
${bashCompletionFunction}
`;

const zshCompletionFunction = `_muster_values() {
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
      _muster_offers "flags $at"
      if (( \${reply[(I)\${word}=:*]} )); then flag=$word; fi
    else
      _muster_offers "commands $at"
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
    _muster_offers "flags $at"
    reply=("\${(@)reply/=:/:}")
    _describe -o flag reply
    return
  else
    _muster_offers "commands $at"
    if (( $#reply )); then
      _describe command reply
      return
    fi
  fi
  _muster_offers "things $place"
  if (( $#reply )); then
    _muster_values "$reply[1]"
    return
  fi
  _muster_offers "choices $place"
  if (( $#reply )); then compadd -a reply; else _files; fi
}
if [[ $funcstack[1] == _muster ]]; then _muster "$@"; else compdef _muster muster; fi`;

/**
 * Formats a candidate for zsh. A colon separates the name from its description, so colons within the name are
 * escaped.
 */
const formatZshCandidate = ({ name, meaning }: CompletionTableRow['candidates'][number]): string =>
  quoteForShell(meaning === undefined ? name : `${name.replaceAll(':', '\\:')}:${meaning}`);

export const buildZshScript = (positions: readonly CommandPosition[]): string => `\
#compdef muster
# Completion of muster in zsh: source <(muster completion zsh), or this as _muster in a folder of $fpath
_muster_offers() {
  reply=()
  case "$1" in
${completionTableRows(positions)
  .map(
    ({ key, candidates }) =>
      `    ${quoteForShell(key)}) reply=(${candidates.map(formatZshCandidate).join(' ')}) ;;`,
  )
  .join('\n')}
  esac
}
${zshCompletionFunction}
`;

const fishCompletionFunction = `function __muster
  set -l at ''
  set -l flag ''
  set -l count 0
  set -l typed (commandline -opc)
  for word in $typed[2..-1]
    if test -n "$flag"
      set flag ''
    else if string match -q -- '-*' $word
      if contains -- "$word=" (__muster_offers "flags $at" | string split -f 1 \\t)
        set flag $word
      end
    else if contains -- $word (__muster_offers "commands $at" | string split -f 1 \\t)
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
    set found (__muster_offers "flags $at" | string replace -r '=(?=\\t)' '')
  else
    set found (__muster_offers "commands $at")
  end
  if test (count $found) -eq 0
    set -l thing (__muster_offers "things $place" | string split -f 1 \\t)
    if test -n "$thing"
      $typed[1] completion values -- $thing "$begun" $typed[2..-1] 2>/dev/null | string replace -r '^' -- "$before"
      return
    end
    set found (__muster_offers "choices $place" | string replace -r '^' -- "$before")
  end
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path $current
  end
end
complete -c muster -k -f -a '(__muster)'`;

export const buildFishScript = (positions: readonly CommandPosition[]): string => `\
# Completion of muster in fish: muster completion fish | source
function __muster_offers
  switch "$argv[1]"
${completionTableRows(positions)
  .map(({ key, candidates }) => {
    const pairs = candidates.map(
      ({ name, meaning = '' }) => `${quoteForFish(name)} ${quoteForFish(meaning)}`,
    );
    return `    case ${quoteForFish(key)}\n      printf '%s\\t%s\\n' ${pairs.join(' ')}`;
  })
  .join('\n')}
  end
end
${fishCompletionFunction}
`;
