/**
 * Decides which candidate executions a fact concerns. A pull request is identified by repository and number,
 * and a branch by repository and name. Addresses and names of repositories can change.
 */
import { pullAddressOf } from '@muster/registry';
import { type ExecutionCandidate, type Way, ways } from '../data/find-execution.ts';
import { type LinkedRepository } from '../data/repositories.ts';
import { type DeliveryFact } from './fact.ts';

/** A repository of the project with its addresses, the current one first. */
export interface RepositoryAddresses {
  readonly id: string;
  readonly addresses: readonly string[];
}

export interface Matching {
  readonly matches: readonly ExecutionCandidate[];
  /** The executions that were found but that the fact does not concern, each with the reason. */
  readonly others: readonly { readonly id: string; readonly reason: string }[];
  /**
   * True if the fact may concern one of the executions once more is known about them. The fact is then
   * parked.
   */
  readonly waits: boolean;
  /** True if the fact is ambiguous: it may concern more than one execution. */
  readonly isDoubtful: boolean;
}

interface Place {
  readonly fact: DeliveryFact;
  readonly repository: LinkedRepository;
  readonly links: readonly RepositoryAddresses[];
}

/**
 * Returns the linked repository that contains the work; null if the repository is not linked, undefined if it
 * is unknown.
 */
function repositoryOf({ handedIn, seen }: ExecutionCandidate, { fact, repository, links }: Place) {
  const address = handedIn === null ? undefined : pullAddressOf(handedIn.url);
  if (address === undefined) return seen?.repositoryId;
  const has = (link: RepositoryAddresses | undefined): boolean =>
    link?.addresses.includes(address.repository) === true;
  const known = links.find(({ id }) => id === seen?.repositoryId);
  // After a rename, another repository may receive the old name.
  if (known !== undefined && seen?.number === address.number && has(known)) return known.id;
  if (fact.url !== null && pullAddressOf(fact.url)?.repository === address.repository) return repository.id;
  return (links.find(({ addresses }) => addresses[0] === address.repository) ?? links.find(has))?.id ?? null;
}

/** Returns true if the work was submitted with the pull request of the fact. */
function isHandedIn(candidate: ExecutionCandidate, place: Place): boolean {
  const { fact, repository } = place;
  const { handedIn } = candidate;
  if (handedIn === null || fact.url === null) return false;
  const address = pullAddressOf(handedIn.url);
  if (address === undefined) return handedIn.url === fact.url;
  return address.number === fact.number && repositoryOf(candidate, place) === repository.id;
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
const locating: ReadonlySet<DeliveryFact['kind']> = new Set([
  'branch_pushed',
  'pr_opened',
  'pr_updated',
  'pr_reopened',
]);
const explicit: ReadonlySet<Way> = new Set(['trailer', 'handedIn']);

/**
 * Returns true if the candidate was found in a way that also identifies the repository. Branches of several
 * repositories can have the same name.
 */
const locates = ({ way }: ExecutionCandidate, { links, fact }: Place): boolean =>
  links.length < 2 || explicit.has(way) || (way !== 'branch' && locating.has(fact.kind));

const unlocated = 'the repository of the work is not known yet';

function otherRepository(candidate: ExecutionCandidate, place: Place): string | undefined {
  const home = repositoryOf(candidate, place);
  if (home === null) return 'the work was submitted with another pull request';
  if (home !== undefined)
    return home === place.repository.id ? undefined : 'the work is in another repository';
  return locates(candidate, place) ? undefined : unlocated;
}

/**
 * Returns the reason why a fact of the right repository does not concern the candidate's work; undefined if
 * it does.
 */
function otherPull(candidate: ExecutionCandidate, place: Place): string | undefined {
  const { fact, repository } = place;
  if (fact.url === null) return undefined;
  if (candidate.handedIn !== null && !isHandedIn(candidate, place) && !isReplacement(candidate, fact)) {
    return 'the work was submitted with another pull request';
  }
  const wanted = candidate.base ?? repository.defaultBranch ?? fact.defaultBranch;
  return fact.base === null || wanted === null || fact.base === wanted
    ? undefined
    : `it targets ${fact.base}, but the work targets ${wanted}`;
}

/** Returns the newest candidate of each story or group. The candidates must be sorted newest first. */
const newestOfTargets = (candidates: readonly ExecutionCandidate[]): ExecutionCandidate[] => [
  ...new Map(candidates.toReversed().map((candidate) => [candidate.targetId, candidate])).values(),
];

/**
 * Returns the candidates that were found in the most reliable way, and those that were submitted with the
 * fact's pull request.
 */
function surest(candidates: readonly ExecutionCandidate[]): ExecutionCandidate[] {
  const way = ways.find((one) => candidates.some((candidate) => candidate.way === one));
  const isSure = (candidate: ExecutionCandidate): boolean =>
    candidate.way === way || candidate.way === 'handedIn';
  return newestOfTargets(candidates.filter(isSure));
}

export function matchesOf(candidates: readonly ExecutionCandidate[], place: Place): Matching {
  const found = candidates.filter(
    (candidate) => candidate.way !== 'handedIn' || isHandedIn(candidate, place),
  );
  const here = found.filter((candidate) => otherRepository(candidate, place) === undefined);
  if (here.length === 0) {
    const others = surest(found).map((candidate) => ({
      id: candidate.id,
      reason: otherRepository(candidate, place) ?? unlocated,
    }));
    const waits = others.length === 0 || others.some(({ reason }) => reason === unlocated);
    return { matches: [], others, waits, isDoubtful: false };
  }
  const judged = surest(here).map((candidate) => ({ candidate, reason: otherPull(candidate, place) }));
  const matches = judged.filter(({ reason }) => reason === undefined).map(({ candidate }) => candidate);
  const others = judged.flatMap(({ candidate, reason }) =>
    reason === undefined ? [] : [{ id: candidate.id, reason }],
  );
  const isMeant = (match: ExecutionCandidate): boolean =>
    isHandedIn(match, place) || (match.way === 'trailer' && place.fact.url !== null);
  return {
    ...{ matches, others, waits: false },
    isDoubtful: matches.length > 1 && !matches.every(isMeant),
  };
}
