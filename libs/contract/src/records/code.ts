/**
 * The state of a story's code under review, computed only here. `applyReportedCode` applies reports of members and
 * lease holders, `applyForgeHead` those of the forge. Verdicts, gates and lists use the result.
 */

/** The hashes that identify the code at one point in time; null if unknown. */
export interface CodeHashes {
  readonly headSha: string | null;
  readonly diffHash: string | null;
}

export interface CodeUnderReview extends CodeHashes {
  /**
   * A number that increases each time the code changes, and never decreases. A verdict stores the number that
   * applied when it was given.
   */
  readonly seq: number;
  /**
   * The time since which this commit is the head. For a caller's report it comes from the database's clock,
   * and for a fact of the forge from the forge's clock.
   */
  readonly at: string;
  /** The newest fact from the forge that named a head commit; null if there is none. */
  readonly fact: { readonly at: string; readonly dedupeKey: string } | null;
  /** The earlier head commits under review, oldest first. */
  readonly before: readonly string[];
  /** The replacements of one head commit by another that the forge reported, oldest first. */
  readonly replaced?: readonly HeadReplacement[];
}

interface HeadReplacement {
  readonly from: string;
  readonly to: string;
}

/** The code of a story before any code was reported. */
export const noReportedCode: CodeUnderReview = {
  seq: 0,
  headSha: null,
  diffHash: null,
  at: '',
  fact: null,
  before: [],
};

const maxEarlierHeads = 50;

/** Returns true if two hashes name the same commit. One may be an abbreviation of the other. */
export const isSameCommit = (one: string, other: string): boolean =>
  one.startsWith(other) || other.startsWith(one);

const isSameHead = (one: string | null, other: string | null): boolean =>
  one === null || other === null ? one === other : isSameCommit(one, other);

/**
 * Returns true if the code is known to differ. The diff hashes decide if both are known, otherwise the head
 * commits if both are known.
 */
export function isDifferentCode(one: CodeHashes, other: CodeHashes): boolean {
  if (one.diffHash !== null && other.diffHash !== null) return one.diffHash !== other.diffHash;
  return one.headSha !== null && other.headSha !== null && !isSameCommit(one.headSha, other.headSha);
}

/**
 * Returns true if the code may have changed. The diff hash decides if the old one is known, otherwise the
 * head commit.
 */
function mayHaveChanged(before: CodeHashes, after: CodeHashes): boolean {
  if (before.diffHash !== null) return before.diffHash !== after.diffHash;
  return before.headSha === null || !isSameHead(before.headSha, after.headSha);
}

function withCodeHashes(code: CodeUnderReview, next: CodeHashes, at: string): CodeUnderReview {
  const isSame = next.headSha === code.headSha && next.diffHash === code.diffHash;
  if (isSame) return code;
  const isSameCode = !mayHaveChanged(code, next);
  const keepsHead = isSameHead(code.headSha, next.headSha);
  return {
    ...code,
    ...next,
    seq: isSameCode ? code.seq : code.seq + 1,
    at: isSameCode && keepsHead ? code.at : at,
    before:
      keepsHead || code.headSha === null
        ? code.before
        : [...code.before, code.headSha].slice(-maxEarlierHeads),
  };
}

/**
 * Applies the report of a member, a reviewer or a lease holder. An omitted field stays unchanged, and null
 * clears it. With a new head, the diff hash becomes unknown unless the report contains it.
 */
export function applyReportedCode(
  code: CodeUnderReview,
  report: { readonly headSha?: string | null | undefined; readonly diffHash?: string | null | undefined },
  at: string,
): CodeUnderReview {
  const headSha = report.headSha === undefined ? code.headSha : report.headSha;
  const keepsHead = isSameHead(headSha, code.headSha);
  const diffHash = report.diffHash === undefined ? (keepsHead ? code.diffHash : null) : report.diffHash;
  return withCodeHashes(
    code,
    { headSha: keepsHead ? longerSha(code.headSha, headSha) : headSha, diffHash },
    at,
  );
}

/** Returns the longer of two notations of a commit. */
const longerSha = (one: string | null, other: string | null): string | null =>
  (other?.length ?? 0) > (one?.length ?? 0) ? other : one;

/** A fact of the forge about a head commit. `sha` is null if something was pushed, but the commit is unknown. */
export interface ForgeHeadFact {
  readonly sha: string | null;
  readonly at: string;
  readonly dedupeKey: string;
  /** The head commit that the new head replaced, if the forge reports it. */
  readonly before?: string | null | undefined;
}

const maxReplacements = 50;

function addReplacement(code: CodeUnderReview, { sha, before }: ForgeHeadFact): readonly HeadReplacement[] {
  const known = code.replaced ?? [];
  const isKnown = known.some(({ from, to }) => from === before && to === sha);
  if (sha === null || before == null || before === sha || isKnown) return known;
  return [...known, { from: before, to: sha }].slice(-maxReplacements);
}

/**
 * Returns the heads that came after the given head, in order. The list ends with the given head if it came
 * back.
 */
function successorsOf(sha: string, replacements: readonly HeadReplacement[]): string[] {
  const successors: string[] = [];
  for (let head: string | undefined = sha; head !== undefined;) {
    const next: string | undefined = replacements.findLast(({ from }) =>
      isSameCommit(from, head as string),
    )?.to;
    if (next === undefined || successors.includes(next)) break;
    successors.push(next);
    head = isSameCommit(next, sha) ? undefined : next;
  }
  return successors;
}

/**
 * Returns true if a head that the forge reported is later than the known head. If the forge's history
 * connects both heads, it decides. Otherwise the times decide, and of equal times the later arrival wins. A
 * head that the forge reports without history is compared by time alone.
 */
function isLaterHead(
  code: CodeUnderReview,
  { sha, at, before }: ForgeHeadFact,
  replacements: readonly HeadReplacement[],
): boolean {
  const { headSha, fact } = code;
  if (fact === null) return true;
  if (sha !== null && headSha !== null) {
    const isAfter = successorsOf(headSha, replacements).some((one) => isSameCommit(one, sha));
    const isBefore = successorsOf(sha, replacements).some((one) => isSameCommit(one, headSha));
    // True if the head may have come back by a push that was never reported: it was seen later, and its
    // history is unknown.
    const mayBeBack = before == null && at > fact.at;
    if (isAfter !== isBefore && !(isBefore && mayBeBack)) return isAfter;
  }
  return at >= fact.at;
}

/**
 * Applies a fact of the forge about a head. A late fact changes only the history. The forge's clock and the
 * database's clock are compared only if an error does no harm. An earlier head becomes current again only by a
 * fact that is newer than the current head. A head that was never under review becomes current even if its fact
 * is older.
 */
export function applyForgeHead(known: CodeUnderReview, headFact: ForgeHeadFact): CodeUnderReview {
  const { at, dedupeKey } = headFact;
  const replaced = addReplacement(known, headFact);
  const code = replaced.length === 0 ? known : { ...known, replaced };
  if (code.fact?.dedupeKey === dedupeKey && code.fact.at === at) return code;
  const sha = headFact.sha === null ? null : (successorsOf(headFact.sha, replaced).at(-1) ?? headFact.sha);
  const isHead = sha !== null && code.headSha !== null && isSameCommit(code.headSha, sha);
  if (!isHead && !isLaterHead(code, headFact, replaced)) return code;
  const told = { ...code, fact: code.fact !== null && code.fact.at > at ? code.fact : { at, dedupeKey } };
  const isLate = at < code.at;
  if (sha === null) {
    if (isLate) return told;
    // The code after a push whose commit is unknown. It differs from the code before.
    const emptied = withCodeHashes(told, { headSha: null, diffHash: null }, at);
    return { ...emptied, at, seq: code.seq + 1 };
  }
  if (isHead) return { ...told, headSha: longerSha(code.headSha, sha) };
  const isBack = code.before.some((head) => isSameCommit(head, sha));
  if (isLate && isBack && !isSuccessorOfHead(code, sha, replaced)) return told;
  return withCodeHashes(told, { headSha: sha, diffHash: null }, at);
}

const isSuccessorOfHead = (
  code: CodeUnderReview,
  sha: string,
  replacements: readonly HeadReplacement[],
): boolean =>
  code.headSha !== null && successorsOf(code.headSha, replacements).some((one) => isSameCommit(one, sha));
