/** Whom a text mentions: `@handle`, but not in code, where an @ is a decorator or a package, nor in an address. */

/**
 * An @ and all that could be of a handle behind it. What stands before it makes `ben@ana`, `example.com/@ana` or
 * `\@ana` of it; what follows makes another word, `@example.com` or `@scope/package`.
 */
const mention = /(?<![\p{L}\p{N}\p{M}_.+\-@/\\])@([A-Za-z0-9-]+)(?![\p{L}\p{N}\p{M}_@-]|[./][\p{L}\p{N}])/gu;

const handle = /^[a-z0-9][a-z0-9-]{0,38}$/;

/** The handles that a markdown text mentions, in lower case, each once, in the order of their first mention. */
export function mentionedHandles(markdown: string): string[] {
  const handles = new Set<string>();
  for (const block of blocksOutsideFences(markdown)) {
    for (const prose of outsideCodeSpans(block)) {
      for (const [, word = ''] of prose.matchAll(mention)) {
        const wanted = withoutHyphensBehind(word.toLowerCase());
        if (handle.test(wanted)) handles.add(wanted);
      }
    }
  }
  return [...handles];
}

/** By hand: a pattern would begin at each hyphen anew. */
function withoutHyphensBehind(word: string): string {
  let end = word.length;
  while (word[end - 1] === '-') end -= 1;
  return word.slice(0, end);
}

/** A fence may stand in a quote or a list; ticks of a span may not stand behind one made of ticks. */
const opening = /^([\s>]*)(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:(`{3,})[^`]*|(~{3,}).*)$/;

/** Runs of lines without blank ones, and without fenced code. A fence that is never closed goes on to the end. */
function* blocksOutsideFences(markdown: string): Generator<string> {
  let block: string[] = [];
  let fence: { readonly mark: string; readonly quoted: boolean } | undefined;
  for (const line of markdown.split(/\r\n|\r|\n/)) {
    const bare = line.replace(/^[\s>]+/, '').trimEnd();
    if (fence !== undefined) {
      const closed = bare.startsWith(fence.mark) && bare.replaceAll(fence.mark.charAt(0), '') === '';
      const quoteLeft = fence.quoted && !/^\s*>/.test(line);
      if (closed || quoteLeft) fence = undefined;
      if (!quoteLeft) continue;
    }
    const [isFence, prefix = '', ticks, tildes] = opening.exec(line) ?? [];
    if (isFence !== undefined) fence = { mark: ticks ?? tildes ?? '', quoted: prefix.includes('>') };
    if (isFence === undefined && bare !== '') {
      block.push(line);
      continue;
    }
    if (block.length > 0) yield block.join('\n');
    block = [];
  }
  yield block.join('\n');
}

/** What is between the code spans of a block. As many ticks as opened a span close it; unmatched ones are text. */
function* outsideCodeSpans(block: string): Generator<string> {
  // A backslash takes a tick its meaning, unless it lost its own to another; inside a span it has none.
  const runs = [...block.matchAll(/(?<!\\)(\\*)(`+)/g)].map(({ index, 1: slashes = '', 2: run = '' }) => ({
    escaped: slashes.length % 2 === 1,
    start: index + slashes.length,
    length: run.length,
  }));
  // The runs that could still close a span, by their length, the next one last.
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
