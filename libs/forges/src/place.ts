/**
 * Assignment of facts to executions: each fact is recorded at the execution that it concerns, or parked until
 * there is one.
 */
import { type PlainDb } from '@muster/driver';
import {
  ApiError,
  canonicalPullUrl,
  type ForgeOutcome,
  internalOperations,
  type Trust,
} from '@muster/contract';
import { type PerformAsSystem } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import { type ExecutionCandidate, findExecutionCandidates } from './data/find-execution.ts';
import { parkFact } from './data/parked.ts';
import { requestChanges } from './data/changes.ts';
import { findChecksAndExecutions, findHeadOfPull, insertCheck, storePull } from './data/pulls.ts';
import { listRepositoryAddresses, type LinkedRepository } from './data/repositories.ts';
import { omitsReviewerAccess } from './rules/asked-reviews.ts';
import { combineCheckReports } from './rules/checks.ts';
import { type CommitCheck, type DeliveryFact, factKey } from './rules/fact.ts';
import { createWaitKeys } from './rules/keys.ts';
import { isReplacement, matchCandidates } from './rules/match.ts';

export interface PlacementContext {
  readonly db: PlainDb;
  readonly perform: PerformAsSystem;
  readonly repository: LinkedRepository;
  readonly trust: Trust;
  /**
   * True if the fact comes from the forge's answer to a poll. The head in the fact is then the current head.
   */
  readonly isPollAnswer: boolean;
  /** The time of receipt. Times of a forge's clock that are far ahead of it are replaced. */
  readonly receivedAt: string;
}

type ForgeObservation = Parameters<typeof recordAtExecution>[2];

const toOutcome = (
  kind: ForgeOutcome['kind'],
  result: ForgeOutcome['result'],
  executionId: string | null = null,
  reason: string | null = null,
): ForgeOutcome => ({ kind, executionId, result, reason });

/**
 * The kinds of facts that may link a pull request if only a story's key matches. Such a match has no other
 * effect.
 */
const linkingKinds: ReadonlySet<DeliveryFact['kind']> = new Set(['pr_opened', 'pr_updated', 'pr_reopened']);
const headKinds: ReadonlySet<DeliveryFact['kind']> = new Set(['branch_pushed', ...linkingKinds]);

const canonicalUrl = (repository: LinkedRepository, url: string): string =>
  canonicalPullUrl([repository], url, null) ?? url;

const maxClockSkewMs = 4 * 60_000;
const capFutureTime = (at: string, receivedAt: string): string =>
  Date.parse(at) > Date.parse(receivedAt) + maxClockSkewMs ? receivedAt : at;

/** Records an observation and returns the result. Throws if it cannot be recorded. */
async function recordAtExecution(
  { perform, repository, trust, receivedAt }: PlacementContext,
  executionId: string,
  observation: {
    readonly kind: DeliveryFact['kind'];
    readonly at: string;
    readonly dedupeKey: string;
    readonly ref?: string | null;
    readonly sha?: string | null;
    readonly number?: number | null;
    readonly url?: string | null;
    readonly before?: string | null;
    readonly reviewer?: string | null;
  },
  { rev, trust: own = trust }: { readonly rev?: number; readonly trust?: Trust } = {},
) {
  const { at, ref, sha, number, url, before, reviewer, ...rest } = observation;
  const observationFields = {
    ...rest,
    observedAt: capFutureTime(at, receivedAt),
    ...(ref != null && ref.length <= 255 && { ref }),
    ...(sha != null && { sha }),
    ...(number != null && { number }),
    ...(url != null && { url }),
    ...(before != null && { before }),
    ...(reviewer != null && { reviewer }),
  };
  return perform(
    internalOperations.observeForge,
    { id: executionId, projectId: repository.projectId },
    { executionId, observation: observationFields, trust: own, ...(rev !== undefined && { rev }) },
  );
}

const isArchived = (error: unknown): boolean =>
  error instanceof ApiError && error.details.reason === 'archived';

/**
 * Notifies the holders of the executions that a fact may concern any of them. In an archived project no
 * holder is notified.
 */
async function signalAmbiguousFact(
  { perform, repository: { projectId } }: PlacementContext,
  { kind, branch: ref, number, url }: DeliveryFact,
  executionIds: string[],
): Promise<void> {
  const params = { projectId, executionIds, fact: { kind, ref, number, url } };
  await perform(internalOperations.tellForgeDoubt, { id: projectId, projectId }, params).catch(
    (error: unknown) => {
      if (!isArchived(error)) throw error;
    },
  );
}

/** Records a fact at the execution that it concerns, or parks it. */
export async function recordOrParkFact(
  context: PlacementContext,
  reportedFact: DeliveryFact,
): Promise<ForgeOutcome[]> {
  const { db, repository, trust } = context;
  const fact =
    reportedFact.url === null
      ? reportedFact
      : { ...reportedFact, url: canonicalUrl(repository, reportedFact.url) };
  const { kind } = fact;
  const [candidates, linkedRepositories] = await Promise.all([
    findExecutionCandidates(db, repository, fact),
    listRepositoryAddresses(db, repository.projectId),
  ]);
  const {
    matches,
    rejectedCandidates: others,
    shouldPark,
    isAmbiguous,
  } = matchCandidates(candidates, {
    fact,
    repository,
    linkedRepositories,
  });
  const noted = others.map(({ id, reason }) => toOutcome(kind, 'noted', id, reason));
  // A match by the story's key alone only links the pull request. The fact is also parked, because it may
  // have more effect after the work is submitted.
  if (shouldPark || matches.some(({ way }) => way === 'storyKey')) {
    const keys = createWaitKeys(fact);
    if (keys.length > 0) db.deferToCommit(parkFact(repository.id, fact, keys, trust));
  }
  if (matches.length === 0 && noted.length === 0)
    return [toOutcome(kind, 'parked', null, 'no execution has this branch, commit or pull request yet')];
  if (isAmbiguous) {
    const ids = matches.map(({ id }) => id);
    await signalAmbiguousFact(context, fact, ids);
    return [
      toOutcome(
        kind,
        'noted',
        null,
        `the fact matches ${ids.length} executions, so none of the executions was chosen: ${ids.join(', ')}`,
      ),
    ];
  }
  const outcomes: ForgeOutcome[] = [];
  // The order by id is the lock order of all transactions.
  for (const match of matches.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
    outcomes.push(await recordFact(context, match, fact));
  return [...outcomes, ...noted];
}

/** Records a fact at one execution. */
async function recordFact(
  context: PlacementContext,
  match: ExecutionCandidate,
  fact: DeliveryFact,
): Promise<ForgeOutcome> {
  const { db, repository } = context;
  const { branch: ref, sha, before, reviewer, number, url, at, kind } = fact;
  const isLink = match.way === 'storyKey';
  if (isLink && !linkingKinds.has(kind))
    return toOutcome(
      kind,
      'noted',
      match.id,
      "it names the story's key only; that links the work, but does not complete it",
    );
  // If only the story's key matched, the head may belong to other work. Such an observation has neither
  // branch nor head.
  const key = factKey(fact, context.isPollAnswer && headKinds.has(kind));
  const observation: ForgeObservation = {
    // A fact from a poll gets its own deduplication key, so that it is recorded even if a webhook delivery
    // reported the same head before. It decides which of two heads with the same time is current.
    ...{ kind, at, number, url, before, reviewer },
    // A link gets its own deduplication key. The complete fact can then still be recorded, once the execution
    // is identified in a more reliable way.
    dedupeKey: isLink ? `linked ${key}`.slice(0, 255) : key,
    ...(isLink ? {} : { ref, sha }),
  };
  try {
    const { recorded, execution: after } = await recordAtExecution(context, match.id, observation);
    if (isLink) return toOutcome(kind, 'linked', match.id);
    const state = after.git?.pullRequest?.state ?? 'open';
    const isOpen = state === 'open' || state === 'draft';
    const headSha = after.git?.headSha ?? null;
    const head = headKinds.has(kind) && sha !== null && headSha !== null ? { sha: headSha, at } : null;
    const replacedPullNumber = isReplacement(match, fact) ? (match.handedIn?.number ?? null) : null;
    const pull = { executionId: match.id, repositoryId: repository.id, isOpen, replacedPullNumber, head };
    const other = await storePull(db, pull, fact);
    if (other !== null) {
      db.deferToCommit(requestChanges(match.id));
      await recordChecks(context, other);
    }
    if ((recorded && isHeadTie(match, fact)) || (isOpen && mayLackReviews(match, repository, number)))
      db.deferToCommit(outboxRow('forge.ask', { executionId: match.id }));
    return toOutcome(kind, recorded ? 'recorded' : 'repeated', match.id);
  } catch (error) {
    if (!isArchived(error)) throw error;
    return toOutcome(kind, 'noted', match.id, 'the project is archived');
  }
}

/**
 * Returns true if a pull request is new to the work and its forge hides reviewers. Reviews may then exist
 * that no delivery reported.
 */
const mayLackReviews = (
  { seen }: ExecutionCandidate,
  { id, kind }: LinkedRepository,
  number: number | null,
): boolean =>
  omitsReviewerAccess(kind) && number !== null && !(seen?.repositoryId === id && seen.number === number);

/**
 * Returns true if two heads have the same time and the forge did not report their order. A poll of the forge
 * can decide.
 */
const isHeadTie = ({ seen }: ExecutionCandidate, { kind, sha, before, at }: DeliveryFact): boolean =>
  headKinds.has(kind) &&
  seen !== null &&
  seen.headAt !== null &&
  Date.parse(seen.headAt) === Date.parse(at) &&
  seen.headSha !== sha &&
  seen.headSha !== before;

/** Records the result of a commit's checks at the executions whose head it is. */
async function recordChecks(context: PlacementContext, sha: string): Promise<ForgeOutcome[]> {
  const { db, repository } = context;
  // The check report was only deferred, so it must be sent before the query that reads all reports.
  db.flush();
  const { checkReports: words, executionIds } = await findChecksAndExecutions(db, repository.id, sha);
  const verdict = combineCheckReports(words);
  if (verdict === undefined) return [];
  const { kind, at, reportCount, trust } = verdict;
  const outcomes: ForgeOutcome[] = [];
  for (const executionId of executionIds) {
    const dedupeKey = [kind, sha, at, reportCount].join(' ');
    const { recorded } = await recordAtExecution(
      context,
      executionId,
      { kind, at, sha, dedupeKey },
      { rev: reportCount, trust },
    );
    outcomes.push(toOutcome(kind, recorded ? 'recorded' : 'repeated', executionId));
  }
  return outcomes;
}

/** Stores a check report. If it decides the checks of a head, the result is recorded. */
export async function storeCheckReport(
  context: PlacementContext,
  check: CommitCheck,
): Promise<ForgeOutcome[]> {
  const { db, repository, trust } = context;
  const { trialOf } = check;
  const head = trialOf === undefined ? undefined : await findHeadOfPull(db, repository.id, trialOf);
  const sha = head ?? check.sha;
  db.deferToCommit(insertCheck(repository.id, { ...check, sha }, trust));
  try {
    const outcomes = await recordChecks(context, sha);
    return outcomes.length > 0 ? outcomes : [toOutcome('check', 'noted')];
  } catch (error) {
    if (!isArchived(error)) throw error;
    return [toOutcome('check', 'noted', null, 'the project is archived')];
  }
}
