/**
 * Decides which candidate executions a fact concerns. A pull request is identified by repository and number,
 * and a branch by repository and name. Addresses and names of repositories can change.
 */
import { parsePullUrl } from '@muster/contract';
import { type ExecutionCandidate, type MatchKind, matchKinds } from '../data/find-execution.ts';
import { type LinkedRepository, type RepositoryAddresses } from '../data/repositories.ts';
import { type DeliveryFact } from './fact.ts';

export interface MatchResult {
  readonly matches: readonly ExecutionCandidate[];
  /** The executions that were found but that the fact does not concern, each with the reason. */
  readonly rejectedCandidates: readonly { readonly id: string; readonly reason: string }[];
  /**
   * True if the fact may concern one of the executions once more is known about them. The fact is then
   * parked.
   */
  readonly shouldPark: boolean;
  /** True if the fact is ambiguous: it may concern more than one execution. */
  readonly isAmbiguous: boolean;
}

interface MatchContext {
  readonly fact: DeliveryFact;
  readonly repository: LinkedRepository;
  readonly linkedRepositories: readonly RepositoryAddresses[];
}

/**
 * Returns the linked repository that contains the work; null if the repository is not linked, undefined if it
 * is unknown.
 */
function repositoryIdOfWork(
  { handedIn, seen }: ExecutionCandidate,
  { fact, repository, linkedRepositories }: MatchContext,
) {
  const address = handedIn === null ? undefined : parsePullUrl(handedIn.url);
  if (address === undefined) return seen?.repositoryId;
  const has = (link: RepositoryAddresses | undefined): boolean =>
    link?.addresses.includes(address.repository) === true;
  const known = linkedRepositories.find(({ id }) => id === seen?.repositoryId);
  // After a rename, another repository may receive the old name.
  if (known !== undefined && seen?.number === address.number && has(known)) return known.id;
  if (fact.url !== null && parsePullUrl(fact.url)?.repository === address.repository) return repository.id;
  return (
    (
      linkedRepositories.find(({ addresses }) => addresses[0] === address.repository) ??
      linkedRepositories.find(has)
    )?.id ?? null
  );
}

/** Returns true if the work was submitted with the pull request of the fact. */
function isSubmittedWithPull(candidate: ExecutionCandidate, context: MatchContext): boolean {
  const { fact, repository } = context;
  const { handedIn } = candidate;
  if (handedIn === null || fact.url === null) return false;
  const address = parsePullUrl(handedIn.url);
  if (address === undefined) return handedIn.url === fact.url;
  return address.number === fact.number && repositoryIdOfWork(candidate, context) === repository.id;
}

/** Returns true if the pull request of the fact replaced a closed one of the same branch. */
export function isReplacement({ handedIn, seen, isClosed }: ExecutionCandidate, fact: DeliveryFact): boolean {
  if (handedIn === null || seen === null || fact.number === null || fact.isForeign) return false;
  if (seen.replaces === handedIn.number && seen.number === fact.number) return true;
  return isClosed && seen.branch !== null && seen.branch === fact.branch && fact.number > (seen.number ?? 0);
}

/**
 * The kinds of facts that show in which repository the work is. Facts of other kinds only report its
 * progress.
 */
const locatingKinds: ReadonlySet<DeliveryFact['kind']> = new Set([
  'branch_pushed',
  'pr_opened',
  'pr_updated',
  'pr_reopened',
]);
const explicitMatchKinds: ReadonlySet<MatchKind> = new Set(['trailer', 'handedIn']);

/**
 * Returns true if the candidate was found in a way that also identifies the repository. Branches of several
 * repositories can have the same name.
 */
const identifiesRepository = (
  { way }: ExecutionCandidate,
  { linkedRepositories, fact }: MatchContext,
): boolean =>
  linkedRepositories.length < 2 ||
  explicitMatchKinds.has(way) ||
  (way !== 'branch' && locatingKinds.has(fact.kind));

const unknownRepositoryReason = 'the repository of the work is not known yet';

function repositoryMismatchReason(candidate: ExecutionCandidate, context: MatchContext): string | undefined {
  const home = repositoryIdOfWork(candidate, context);
  if (home === null) return 'the work was submitted with another pull request';
  if (home !== undefined)
    return home === context.repository.id ? undefined : 'the work is in another repository';
  return identifiesRepository(candidate, context) ? undefined : unknownRepositoryReason;
}

/**
 * Returns the reason why a fact of the right repository does not concern the candidate's work; undefined if
 * it does.
 */
function pullMismatchReason(candidate: ExecutionCandidate, context: MatchContext): string | undefined {
  const { fact, repository } = context;
  if (fact.url === null) return undefined;
  if (
    candidate.handedIn !== null &&
    !isSubmittedWithPull(candidate, context) &&
    !isReplacement(candidate, fact)
  )
    return 'the work was submitted with another pull request';
  const wanted = candidate.base ?? repository.defaultBranch ?? fact.defaultBranch;
  return fact.base === null || wanted === null || fact.base === wanted
    ? undefined
    : `it targets ${fact.base}, but the work targets ${wanted}`;
}

/** Returns the newest candidate of each story or group. The candidates must be sorted newest first. */
const newestPerTarget = (candidates: readonly ExecutionCandidate[]): ExecutionCandidate[] => [
  ...new Map(candidates.toReversed().map((candidate) => [candidate.targetId, candidate])).values(),
];

/**
 * Returns the candidates that were found in the most reliable way, and those that were submitted with the
 * fact's pull request.
 */
function mostReliableCandidates(candidates: readonly ExecutionCandidate[]): ExecutionCandidate[] {
  const way = matchKinds.find((one) => candidates.some((candidate) => candidate.way === one));
  const isSure = (candidate: ExecutionCandidate): boolean =>
    candidate.way === way || candidate.way === 'handedIn';
  return newestPerTarget(candidates.filter(isSure));
}

export function matchCandidates(
  candidates: readonly ExecutionCandidate[],
  context: MatchContext,
): MatchResult {
  const found = candidates.filter(
    (candidate) => candidate.way !== 'handedIn' || isSubmittedWithPull(candidate, context),
  );
  const here = found.filter((candidate) => repositoryMismatchReason(candidate, context) === undefined);
  if (here.length === 0) {
    const others = mostReliableCandidates(found).map((candidate) => ({
      id: candidate.id,
      reason: repositoryMismatchReason(candidate, context) ?? unknownRepositoryReason,
    }));
    const waits = others.length === 0 || others.some(({ reason }) => reason === unknownRepositoryReason);
    return { matches: [], rejectedCandidates: others, shouldPark: waits, isAmbiguous: false };
  }
  const judged = mostReliableCandidates(here).map((candidate) => ({
    candidate,
    reason: pullMismatchReason(candidate, context),
  }));
  const matches = judged.filter(({ reason }) => reason === undefined).map(({ candidate }) => candidate);
  const others = judged.flatMap(({ candidate, reason }) =>
    reason === undefined ? [] : [{ id: candidate.id, reason }],
  );
  const isMeant = (match: ExecutionCandidate): boolean =>
    isSubmittedWithPull(match, context) || (match.way === 'trailer' && context.fact.url !== null);
  return {
    ...{ matches, rejectedCandidates: others, shouldPark: false },
    isAmbiguous: matches.length > 1 && !matches.every(isMeant),
  };
}
