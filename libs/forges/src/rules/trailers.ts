/**
 * Executions that a text names with `Muster-Execution: <id>`. In a commit message, git's own rules for
 * trailers apply. In the text of a pull request, the last paragraph must contain nothing but trailers.
 * Examples in code, quotes and comments are ignored.
 */
const executionTrailerPattern =
  /^Muster-Execution[ \t]*:\s*([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\s*$/i;
const trailerPattern = /^[A-Za-z0-9-]+[ \t]*:/;
/** The lines by which git recognizes a block of trailers even if it contains other lines. */
const gitTrailerPattern = /^(?:Signed-off-by: |\(cherry picked from commit )/;
const maxExecutionIds = 10;

const isBlank = (line: string): boolean => line.trim() === '';
const linesOf = (text: string): string[] => text.trimEnd().split(/\r?\n/);
const executionIdsIn = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => executionTrailerPattern.exec(line)?.[1]?.toLowerCase() ?? []);

/** Joins the folded lines of a block. `size` is the number of joined lines. */
function unfoldLines(block: readonly string[]): { text: string; size: number }[] {
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

/**
 * Returns the executions that a commit message names. A cherry-picked commit or a revert belongs to its
 * current branch, not to the work that it names.
 */
function executionIdsInCommit(message: string): string[] {
  const lines = linesOf(message).filter((line) => !line.startsWith('#'));
  const start = lines.findLastIndex(isBlank);
  if (start === -1 || /^Revert "/i.test(message)) return [];
  const entries = unfoldLines(lines.slice(start + 1)).map((entry) => ({
    ...entry,
    isTrailer: trailerPattern.test(entry.text) || gitTrailerPattern.test(entry.text),
  }));
  if (entries.some(({ text }) => text.startsWith('(cherry picked from commit '))) return [];
  const trailers = entries.filter(({ isTrailer }) => isTrailer);
  const otherLines = entries.filter(({ isTrailer }) => !isTrailer).reduce((sum, { size }) => sum + size, 0);
  const isSigned = entries.some(({ text }) => gitTrailerPattern.test(text));
  const isBlock = otherLines === 0 || (isSigned && trailers.length * 3 >= otherLines);
  return isBlock ? executionIdsIn(trailers.map(({ text }) => text)) : [];
}

const maskCharacter = 'x';

/** Replaces all code spans of the line. A span is enclosed in two runs of the same number of backticks. */
function maskCode(line: string): string {
  if (!line.includes('`')) return line;
  // Every second part is a run of backticks.
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
      return at <= codeEnd ? maskCharacter.repeat(part.length) : part;
    })
    .join('');
}

/** The visible lines of a text without HTML comments, and the same lines with code masked. */
class VisibleText {
  readonly lines: string[] = [];
  readonly #prose: string[] = [];
  #fence: { readonly marks: string; readonly depth: number } | undefined;
  #isInComment = false;

  constructor(text: string) {
    for (const line of linesOf(text)) {
      if (!this.#isInComment && this.#isInFence(line)) this.#keep(line, '');
      else this.#keepOutsideComments(line, maskCode(line));
    }
    while (isBlank(this.lines.at(-1) ?? maskCharacter)) this.lines.pop();
  }

  #keep(line: string, prose: string): void {
    this.lines.push(line);
    this.#prose.push(prose);
  }

  /** Returns true if the line is part of a fenced code block. A block in a quote ends with the quote. */
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
      // Backticks inside a comment do not start code.
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

  /** Returns true if the text ends in code, or in an element that quotes or hides its content. */
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

function executionIdsInPullText(text: string): string[] {
  const visible = new VisibleText(text);
  const { lines } = visible;
  const paragraph = lines.slice(lines.findLastIndex(isBlank) + 1);
  return paragraph.every((line) => trailerPattern.test(line)) && !visible.endsInside()
    ? executionIdsIn(paragraph)
    : [];
}

const firstUniqueIds = (executionIds: readonly string[]): string[] =>
  [...new Set(executionIds)].slice(0, maxExecutionIds);

/** Returns the executions that commit messages name. */
export const trailersOfCommits = (messages: readonly (string | null | undefined)[]): string[] =>
  firstUniqueIds(messages.flatMap((message) => executionIdsInCommit(message ?? '')));

/** Returns the executions that the text of a pull request and the messages of its commits name. */
export const trailersOfPull = (
  text: string | null | undefined,
  messages: readonly (string | null | undefined)[] = [],
): string[] => firstUniqueIds([...executionIdsInPullText(text ?? ''), ...trailersOfCommits(messages)]);

/**
 * Returns true if a merge queue created the branch. Such branches test a merge, and no member works on them.
 */
export const isMergeQueueBranch = (branch: string): boolean =>
  /^(?:gh-readonly-queue|mergify\/merge-queue|trunk-merge)\/|^(?:gtmq_|mq-bot-)/.test(branch);

/**
 * The names of branches that collect or revert changes. Any branch may begin with a word such as `release`,
 * so a version, a number or a commit must follow the word.
 */
const repeatBranchPattern =
  /^(?:releases?|backports?|cherry-pick|revert)(?:\/|-v?\d|-(?=[a-f]*\d)[0-9a-f]{7,40}(?:-|$))/i;
const versionBranchPattern = /^v?\d+(?:\.\d+)*\.(?:\d+|x)$/i;
const integrationBranchPattern =
  /^(?:main|master|trunk|next|dev|develop|development|integration|staging|trying|preprod|prod|production)$/i;

/**
 * Returns true if the branch collects, repeats or reverts work of other branches. Its commits then name
 * executions whose work is on those branches.
 */
export const collectsOtherWork = (branch: string): boolean =>
  [repeatBranchPattern, versionBranchPattern, integrationBranchPattern].some((pattern) =>
    pattern.test(branch),
  );
