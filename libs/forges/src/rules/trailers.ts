/**
 * Executions that a text names by `Muster-Execution: <id>`. A commit message counts by git's own rules for trailers; the text
 * of a pull request counts where its last paragraph has nothing but trailers. Examples in code, quotes and comments name nothing.
 */
const namesExecution =
  /^Muster-Execution[ \t]*:\s*([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\s*$/i;
const trailer = /^[A-Za-z0-9-]+[ \t]*:/;
/** git recognizes a block with one of these also where other lines are in it. */
const madeByGit = /^(?:Signed-off-by: |\(cherry picked from commit )/;
const mostNamed = 10;

const isBlank = (line: string): boolean => line.trim() === '';
const linesOf = (text: string): string[] => text.trimEnd().split(/\r?\n/);
const namedIn = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => namesExecution.exec(line)?.[1]?.toLowerCase() ?? []);

/** Folded lines of a block are joined; `size` is how many there were. */
function unfold(block: readonly string[]): { text: string; size: number }[] {
  const entries: { text: string; size: number }[] = [];
  for (const line of block) {
    const last = entries.at(-1);
    if (last === undefined || !/^\s/.test(line)) {
      entries.push({ text: line, size: 1 });
    } else {
      last.text += ` ${line.trim()}`;
      last.size += 1;
    }
  }
  return entries;
}

/** A commit that was picked or reverted belongs to the branch it is on now, not to the work that it names. */
function namedInCommit(message: string): string[] {
  const lines = linesOf(message).filter((line) => !line.startsWith('#'));
  const start = lines.findLastIndex(isBlank);
  if (start === -1 || /^Revert "/i.test(message)) return [];
  const entries = unfold(lines.slice(start + 1)).map((entry) => ({
    ...entry,
    isTrailer: trailer.test(entry.text) || madeByGit.test(entry.text),
  }));
  if (entries.some(({ text }) => text.startsWith('(cherry picked from commit '))) return [];
  const trailers = entries.filter(({ isTrailer }) => isTrailer);
  const otherLines = entries.filter(({ isTrailer }) => !isTrailer).reduce((sum, { size }) => sum + size, 0);
  const isSigned = entries.some(({ text }) => madeByGit.test(text));
  const isBlock = otherLines === 0 || (isSigned && trailers.length * 3 >= otherLines);
  return isBlock ? namedIn(trailers.map(({ text }) => text)) : [];
}

const filler = 'x';

/** The line with all code spans replaced: each is between two runs of as many backticks. */
function maskCode(line: string): string {
  if (!line.includes('`')) return line;
  // Every other part is a run.
  const parts = line.split(/(`+)/);
  const closers = new Int32Array(parts.length).fill(-1);
  const nextOfLength = new Map<number, number>();
  for (let at = parts.length - 2; at > 0; at -= 2) {
    const { length } = parts[at] ?? '';
    closers[at] = nextOfLength.get(length) ?? -1;
    nextOfLength.set(length, at);
  }
  let codeEnd = -1;
  return parts
    .map((part, at) => {
      if (at > codeEnd) codeEnd = closers[at] ?? -1;
      return at <= codeEnd ? filler.repeat(part.length) : part;
    })
    .join('');
}

/** The visible lines of a text, without HTML comments, and the same lines with code masked. */
class Visible {
  readonly lines: string[] = [];
  readonly #prose: string[] = [];
  #fence: { readonly marks: string; readonly depth: number } | undefined;
  #isInComment = false;

  constructor(text: string) {
    for (const line of linesOf(text)) {
      if (!this.#isInComment && this.#isInFence(line)) this.#keep(line, '');
      else this.#keepOutsideComments(line, maskCode(line));
    }
    while (isBlank(this.lines.at(-1) ?? filler)) this.lines.pop();
  }

  #keep(line: string, prose: string): void {
    this.lines.push(line);
    this.#prose.push(prose);
  }

  /** True for a line of a fenced code block. One in a quote ends with the quote. */
  #isInFence(line: string): boolean {
    const [, prefix = '', marks = '', rest = ''] = /^([\s>]*)(`{3,}|~{3,})?(.*)$/s.exec(line) ?? [];
    const depth = prefix.replaceAll(/\s/g, '').length;
    if (this.#fence !== undefined && depth < this.#fence.depth) this.#fence = undefined;
    if (this.#fence !== undefined) {
      if (marks.startsWith(this.#fence.marks) && isBlank(rest)) this.#fence = undefined;
      return true;
    }
    if (marks !== '' && (marks.startsWith('~') || !rest.includes('`'))) this.#fence = { marks, depth };
    return this.#fence !== undefined;
  }

  #keepOutsideComments(line: string, masked: string): void {
    const kept = { line: '', prose: '' };
    let at = 0;
    while (at < line.length) {
      const mark = this.#isInComment ? '-->' : '<!--';
      // Code begins nowhere in a comment.
      const found = (this.#isInComment ? line : masked).indexOf(mark, at);
      const end = found === -1 ? line.length : found;
      if (!this.#isInComment) {
        kept.line += line.slice(at, end);
        kept.prose += masked.slice(at, end);
      }
      if (found !== -1) this.#isInComment = !this.#isInComment;
      at = end + mark.length;
    }
    this.#keep(kept.line, kept.prose);
  }

  /** True if the end is in code, or in an element that quotes or hides what is in it. */
  endsInside(): boolean {
    const lower = this.#prose.join('\n').toLowerCase();
    return (
      this.#fence !== undefined ||
      ['pre', 'blockquote', 'details'].some(
        (name) => lower.lastIndexOf(`<${name}`) > lower.lastIndexOf(`</${name}`),
      )
    );
  }
}

function namedInText(text: string): string[] {
  const visible = new Visible(text);
  const { lines } = visible;
  const paragraph = lines.slice(lines.findLastIndex(isBlank) + 1);
  return paragraph.every((line) => trailer.test(line)) && !visible.endsInside() ? namedIn(paragraph) : [];
}

const first = (named: readonly string[]): string[] => [...new Set(named)].slice(0, mostNamed);

/** Executions that commit messages name. */
export const trailersOfCommits = (messages: readonly (string | null | undefined)[]): string[] =>
  first(messages.flatMap((message) => namedInCommit(message ?? '')));

/** Executions that the text of a pull request names, and the messages of its commits. */
export const trailersOfPull = (
  text: string | null | undefined,
  messages: readonly (string | null | undefined)[] = [],
): string[] => first([...namedInText(text ?? ''), ...trailersOfCommits(messages)]);

/** Branches that a merge queue makes of the branches of work. They are tests of a merge, and no one works on them. */
export const isQueueBranch = (branch: string): boolean =>
  /^(?:gh-readonly-queue|mergify\/merge-queue|trunk-merge)\/|^(?:gtmq_|mq-bot-)/.test(branch);

/** A word alone may begin the name of any branch: what was collected or taken back has a version, a number or a commit. */
const repeated =
  /^(?:releases?|backports?|cherry-pick|revert)(?:\/|-v?\d|-(?=[a-f]*\d)[0-9a-f]{7,40}(?:-|$))/i;
const version = /^v?\d+(?:\.\d+)*\.(?:\d+|x)$/i;
const integration =
  /^(?:main|master|trunk|next|dev|develop|development|integration|staging|trying|preprod|prod|production)$/i;

/** Branches that collect, repeat or take back the work of others: the commits on them name work that is elsewhere. */
export const isOfOthersWork = (branch: string): boolean =>
  [repeated, version, integration].some((pattern) => pattern.test(branch));
