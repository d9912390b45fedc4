/**
 * Finds the people that a text mentions as `@handle`, except in code, quotes, HTML comments and addresses.
 */

/**
 * Letters of scripts that are written without spaces between words, or join particles to names as Korean
 * does. Handles contain none of them. Script_Extensions also covers letters that several scripts share, such
 * as the Japanese prolonged sound mark.
 */
const unspacedScripts = [
  'Han',
  'Hiragana',
  'Katakana',
  'Hangul',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Tibetan',
]
  .map((script) => String.raw`\p{Script_Extensions=${script}}`)
  .join('');
/** A letter, digit or mark that forms one word with an adjacent @ or handle. */
const wordCharacterPattern = String.raw`[[\p{L}\p{N}\p{M}]--[${unspacedScripts}]]`;

/**
 * Matches a handle after an @. The text before the @ must not form `ben@ana`, `example.com/@ana` or `\@ana`
 * with the handle. The text after the handle must not form a longer word, such as `@example.com` or
 * `@scope/package`.
 */
const mentionPattern = new RegExp(
  String.raw`(?<!${wordCharacterPattern}|[_.+\-@\/\\])@([A-Za-z0-9\-]+)(?!${wordCharacterPattern}|[_@\-]|[.\/][\p{L}\p{N}])`,
  'gv',
);

/** Addresses and HTML comments cannot mention people. An unclosed comment hides the rest of its block. */
const urlPattern =
  /(?:\b(?:https?|ftp):\/\/|(?<![\w.\-@])(?:[a-z0-9\-]+\.)+[a-z]{2,}(?:\/|\?[\w\-]+=))[^\s<>]*/gi;
const htmlCommentPattern = /<!--[^]*?(?:-->|$)/g;

const handlePattern = /^[a-z0-9][a-z0-9-]{0,38}$/;

/**
 * Returns the handles that a Markdown text mentions, in lower case, without duplicates, in the order of their
 * first mention.
 */
export function findMentionedHandles(markdown: string): string[] {
  const handles = new Set<string>();
  for (const block of splitProseBlocks(markdown)) {
    for (const prose of textOutsideCodeSpans(block)) {
      for (const [, word = ''] of prose
        .replaceAll(htmlCommentPattern, ' ')
        .replaceAll(urlPattern, ' ')
        .matchAll(mentionPattern)) {
        const wanted = trimTrailingHyphens(word.toLowerCase());
        if (handlePattern.test(wanted)) handles.add(wanted);
      }
    }
  }
  return [...handles];
}

/**
 * Removes trailing hyphens. A regular expression would take quadratic time, as it restarts at each hyphen.
 */
function trimTrailingHyphens(word: string): string {
  let end = word.length;
  while (word[end - 1] === '-') end -= 1;
  return word.slice(0, end);
}

/** A fence may be inside of a quote or a list. The info string of a backtick fence contains no backticks. */
const fenceOpeningPattern = /^([\s>]*)(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:(`{3,})[^`]*|(~{3,}).*)$/;

const listMarkers = String.raw`(?:(?:[\-*+]|\d{1,9}[.\)])\s+)*`;
const quotePattern = new RegExp(String.raw`^ {0,3}${listMarkers}>`);
const quoteInListPattern = new RegExp(String.raw`^\s*${listMarkers}>`);
/**
 * An HTML comment that begins a line and does not end on it. As in CommonMark, it continues across blank
 * lines.
 */
const multiLineCommentPattern = new RegExp(String.raw`^\s*${listMarkers}<!--(?!.*-->)`);

/**
 * Yields runs of lines without blank lines, quotes, code and long comments. An unclosed fence or comment
 * extends to the end.
 */
function* splitProseBlocks(markdown: string): Generator<string> {
  let block: string[] = [];
  let isInList = false;
  let isInComment = false;
  let fence: { readonly mark: string; readonly quoted: boolean } | undefined;
  for (const whole of markdown.split(/\r\n|\r|\n/)) {
    if (isInComment && !whole.includes('-->')) continue;
    const line: string = isInComment ? whole.slice(whole.indexOf('-->') + 3) : whole;
    isInComment = false;
    const bare = line.replace(/^[\s>]+/, '').trimEnd();
    if (fence !== undefined) {
      const closed = bare.startsWith(fence.mark) && bare.replaceAll(fence.mark.charAt(0), '') === '';
      const quoteLeft = fence.quoted && !/^\s*>/.test(line);
      if (closed || quoteLeft) fence = undefined;
      if (!quoteLeft) continue;
    }
    const [isFence, prefix = '', ticks, tildes] = fenceOpeningPattern.exec(line) ?? [];
    if (isFence !== undefined) fence = { mark: ticks ?? tildes ?? '', quoted: prefix.includes('>') };
    const isQuote = (isInList ? quoteInListPattern : quotePattern).test(line);
    // Indented code cannot interrupt a paragraph, and a line within a list is not code.
    const isCode = /^(?: {4}|\t)/.test(line) && block.length === 0 && !isInList;
    if (bare !== '') isInList = /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(line) || (isInList && /^\s/.test(line));
    isInComment = isFence === undefined && !isQuote && !isCode && multiLineCommentPattern.test(line);
    if (isFence === undefined && bare !== '' && !isQuote && !isCode && !isInComment) {
      block.push(line);
      continue;
    }
    if (block.length > 0) yield block.join('\n');
    block = [];
  }
  yield block.join('\n');
}

/**
 * Yields the text between the code spans of a block. A run of as many backticks as opened a span closes it;
 * unmatched runs are text.
 */
function* textOutsideCodeSpans(block: string): Generator<string> {
  // A backslash escapes a backtick unless it is itself escaped. Inside of a span it is literal.
  const runs = [...block.matchAll(/(?<!\\)(\\*)(`+)/g)].map(({ index, 1: slashes = '', 2: run = '' }) => ({
    escaped: slashes.length % 2 === 1,
    start: index + slashes.length,
    length: run.length,
  }));
  // The runs of backticks that can still close a code span, grouped by length. The next run is the last one
  // of its group.
  const closers = Map.groupBy(runs.keys().toArray().reverse(), (index) => runs[index]?.length ?? 0);
  let from = 0;
  for (let index = 0; index < runs.length; index += 1) {
    const run = runs[index];
    if (run === undefined) break;
    const ticks = run.escaped ? run.length - 1 : run.length;
    const candidates = closers.get(ticks) ?? [];
    while ((candidates.at(-1) ?? Infinity) <= index) candidates.pop();
    const close = candidates.at(-1);
    const closing = close === undefined ? undefined : runs[close];
    if (close === undefined || closing === undefined) continue;
    yield block.slice(from, run.start + run.length - ticks);
    from = closing.start + closing.length;
    index = close;
  }
  yield block.slice(from);
}
