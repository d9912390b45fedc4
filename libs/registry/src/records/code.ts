/**
 * The code of a story that is under review: the one statement of it. A caller that hears of the code says it here, members and
 * holders by `codeSaid`, the forge by `codeSeen`; verdicts, gates and lists go by what comes of it.
 */

/** The code at some moment, as far as it is known. */
export interface KnownCode {
  readonly headSha: string | null;
  readonly diffHash: string | null;
}

export interface CodeUnderReview extends KnownCode {
  /** Rises each time the code becomes other code, and never falls: a verdict is about the number it was given at. */
  readonly seq: number;
  /** Since when this is the head: by the database's clock where a caller said so, by the forge's where that saw it. */
  readonly at: string;
  /** The newest fact of the forge that told of a head. */
  readonly fact: { readonly at: string; readonly dedupeKey: string } | null;
  /** Heads that were under review before, the newest last. */
  readonly before: readonly string[];
  /** Which head replaced which, as the forge said; the newest last. */
  readonly replaced?: readonly Replacement[];
}

interface Replacement {
  readonly from: string;
  readonly to: string;
}

/** No caller has told of any code yet. */
export const noCode: CodeUnderReview = {
  seq: 0,
  headSha: null,
  diffHash: null,
  at: '',
  fact: null,
  before: [],
};

const mostBefore = 50;

/** One may be written shorter than the other. */
export const isSameCommit = (one: string, other: string): boolean =>
  one.startsWith(other) || other.startsWith(one);

const isSameHead = (one: string | null, other: string | null): boolean =>
  one === null || other === null ? one === other : isSameCommit(one, other);

/** Whether the code is known to be another: by the diff where both are known, else by the head commit where both are. */
export function isOtherCode(one: KnownCode, other: KnownCode): boolean {
  if (one.diffHash !== null && other.diffHash !== null) return one.diffHash !== other.diffHash;
  return one.headSha !== null && other.headSha !== null && !isSameCommit(one.headSha, other.headSha);
}

/** Whether it cannot be told to be the same code: by the diff where one was known, else by the head commit. */
function hasMovedOn(before: KnownCode, after: KnownCode): boolean {
  if (before.diffHash !== null) return before.diffHash !== after.diffHash;
  return before.headSha === null || !isSameHead(before.headSha, after.headSha);
}

function become(code: CodeUnderReview, next: KnownCode, at: string): CodeUnderReview {
  const isSame = next.headSha === code.headSha && next.diffHash === code.diffHash;
  if (isSame) return code;
  const isSameCode = !hasMovedOn(code, next);
  const keepsHead = isSameHead(code.headSha, next.headSha);
  return {
    ...code,
    ...next,
    seq: isSameCode ? code.seq : code.seq + 1,
    at: isSameCode && keepsHead ? code.at : at,
    before:
      keepsHead || code.headSha === null ? code.before : [...code.before, code.headSha].slice(-mostBefore),
  };
}

/**
 * A caller says where the code stands: a member, a reviewer, or the holder of its lease. What is left out stays, null
 * clears; but of another head the diff is not known, unless it is said with it.
 */
export function codeSaid(
  code: CodeUnderReview,
  news: { readonly headSha?: string | null | undefined; readonly diffHash?: string | null | undefined },
  at: string,
): CodeUnderReview {
  const headSha = news.headSha === undefined ? code.headSha : news.headSha;
  const keepsHead = isSameHead(headSha, code.headSha);
  const diffHash = news.diffHash === undefined ? (keepsHead ? code.diffHash : null) : news.diffHash;
  return become(code, { headSha: keepsHead ? longer(code.headSha, headSha) : headSha, diffHash }, at);
}

/** Of two spellings of a commit the one that says more. */
const longer = (one: string | null, other: string | null): string | null =>
  (other?.length ?? 0) > (one?.length ?? 0) ? other : one;

/** A fact of the forge that tells of a head; null: something was pushed, and it does not say what. */
export interface SeenHead {
  readonly sha: string | null;
  readonly at: string;
  readonly dedupeKey: string;
  /** The head that this one replaced, where the forge says it. */
  readonly before?: string | null | undefined;
}

const mostReplaced = 50;

function withReplacement(code: CodeUnderReview, { sha, before }: SeenHead): readonly Replacement[] {
  const known = code.replaced ?? [];
  const isKnown = known.some(({ from, to }) => from === before && to === sha);
  if (sha === null || before == null || before === sha || isKnown) return known;
  return [...known, { from: before, to: sha }].slice(-mostReplaced);
}

/** The heads that came after this one, in order; it ends with the head itself where that came back. */
function successorsOf(sha: string, replaced: readonly Replacement[]): string[] {
  const successors: string[] = [];
  for (let head: string | undefined = sha; head !== undefined;) {
    const next: string | undefined = replaced.findLast(({ from }) => isSameCommit(from, head as string))?.to;
    if (next === undefined || successors.includes(next)) break;
    successors.push(next);
    head = isSameCommit(next, sha) ? undefined : next;
  }
  return successors;
}

/**
 * Whether a seen head comes after the known one: by the forge's own history where it connects the two, else by the time,
 * and at the same time by arrival. A head that the forge says has no history, as of a report, goes by the time alone.
 */
function isLater(
  code: CodeUnderReview,
  { sha, at, before }: SeenHead,
  replaced: readonly Replacement[],
): boolean {
  const { headSha, fact } = code;
  if (fact === null) return true;
  if (sha !== null && headSha !== null) {
    const isAfter = successorsOf(headSha, replaced).some((one) => isSameCommit(one, sha));
    const isBefore = successorsOf(sha, replaced).some((one) => isSameCommit(one, headSha));
    // A head without history that was seen later may have come back by a push that was never heard of.
    const mayBeBack = before == null && at > fact.at;
    if (isAfter !== isBefore && !(isBefore && mayBeBack)) return isAfter;
  }
  return at >= fact.at;
}

/**
 * The forge saw a head. A late fact changes nothing but the history. The forge's clock and the database's are compared only
 * where that makes up for it: a head that was under review before comes back by a fact that is newer than the present one,
 * and one that never was is other code, whatever the clocks say.
 */
export function codeSeen(known: CodeUnderReview, seen: SeenHead): CodeUnderReview {
  const { at, dedupeKey } = seen;
  const replaced = withReplacement(known, seen);
  const code = replaced.length === 0 ? known : { ...known, replaced };
  if (code.fact?.dedupeKey === dedupeKey && code.fact.at === at) return code;
  const sha = seen.sha === null ? null : (successorsOf(seen.sha, replaced).at(-1) ?? seen.sha);
  const isHead = sha !== null && code.headSha !== null && isSameCommit(code.headSha, sha);
  if (!isHead && !isLater(code, seen, replaced)) return code;
  const told = { ...code, fact: code.fact !== null && code.fact.at > at ? code.fact : { at, dedupeKey } };
  const isLate = at < code.at;
  if (sha === null) {
    if (isLate) return told;
    // That it is other code is all that is known of it.
    const emptied = become(told, { headSha: null, diffHash: null }, at);
    return { ...emptied, at, seq: code.seq + 1 };
  }
  if (isHead) return { ...told, headSha: longer(code.headSha, sha) };
  const isBack = code.before.some((head) => isSameCommit(head, sha));
  if (isLate && isBack && !follows(code, sha, replaced)) return told;
  return become(told, { headSha: sha, diffHash: null }, at);
}

const follows = (code: CodeUnderReview, sha: string, replaced: readonly Replacement[]): boolean =>
  code.headSha !== null && successorsOf(code.headSha, replaced).some((one) => isSameCommit(one, sha));
