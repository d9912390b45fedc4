/** Finds the work that a fact is about, and records the fact. */
import { type Client, isRefusal } from '@muster/client';
import { type DeliveryFact, factKey } from '@muster/forges/reading';
import { type Execution, parsePullUrl } from '@muster/contract';

export interface FactRecording {
  readonly kind: DeliveryFact['kind'];
  /**
   * The execution for which the fact was recorded. Null if no execution was found; `why` then has the reason.
   */
  readonly executionId: string | null;
  /** False if nothing was recorded now, including when the fact had been recorded before. */
  readonly recorded: boolean;
  readonly why: string | null;
}

type FoundExecution = Pick<Execution, 'id' | 'targetId' | 'git' | 'pullRequest'>;

/**
 * Returns the matches of the first search that finds any, only the newest for each target. Trailers and
 * branches of forks do not count, because their authors choose them freely.
 */
async function findExecutions(
  client: Client,
  { trailers, url, branch, isForeign }: DeliveryFact,
  repository: string,
): Promise<FoundExecution[]> {
  if (!isForeign) {
    const named = await Promise.all(
      trailers.map(async (executionId) => {
        try {
          return [(await client.deliveryExecutions.get({ executionId })).execution];
        } catch (error) {
          if (isRefusal(error, 'not_found')) return [];
          throw error;
        }
      }),
    );
    // A push can also contain commits of other work: of completed work, or of a branch on which this branch
    // is stacked.
    const found = named
      .flat()
      .filter(({ state }) => url !== null || state !== 'completed')
      .filter(({ git }) => git?.branch == null || git.branch === branch);
    if (found.length > 0) return found;
  }
  const ways = [
    ...(url === null ? [] : [{ pullRequest: url }]),
    ...(branch === null || isForeign ? [] : [{ branch }]),
  ];
  for (const way of ways) {
    const newest = new Map<string, FoundExecution>();
    for await (const item of client.deliveryExecutions.list.all({ ...way, repository, limit: 50 }))
      if (!newest.has(item.targetId)) newest.set(item.targetId, item);
    if (newest.size > 0) return [...newest.values()];
  }
  return [];
}

/**
 * Returns true if both addresses name one pull request. The service compares the repositories, because it
 * also knows their former addresses.
 */
function isSamePullRequest(firstUrl: string, secondUrl: string): boolean {
  const [first, second] = [parsePullUrl(firstUrl), parsePullUrl(secondUrl)];
  return first === undefined || second === undefined
    ? firstUrl === secondUrl
    : first.number === second.number;
}

/** Returns true if the pull request of the fact replaced a closed one of the same branch. */
function isReplacement({ branch, number, url, isForeign }: DeliveryFact, { git }: FoundExecution): boolean {
  const known = git?.pullRequest ?? null;
  if (known === null || number === null || url === null || isForeign || git?.branch !== branch) return false;
  return known.state === 'closed' ? number > known.number : isSamePullRequest(known.url, url);
}

/**
 * Returns the reason why a fact of a pull request does not concern the execution that it names; undefined if
 * it does.
 */
function mismatchReason(fact: DeliveryFact, work: FoundExecution): string | undefined {
  const { url, base } = fact;
  const { git, pullRequest } = work;
  if (base !== null && git?.baseBranch != null && git.baseBranch !== base)
    return `the work targets ${git.baseBranch}, but the pull request targets ${base}`;
  const isOther = url !== null && pullRequest !== null && !isSamePullRequest(pullRequest.url, url);
  return isOther && !isReplacement(fact, work) ? `the work was submitted with ${pullRequest.url}` : undefined;
}

/** Returns true if the work names the pull request of the fact, or the pull request names the work. */
const isIntendedExecution = ({ url, trailers }: DeliveryFact, { id, pullRequest }: FoundExecution): boolean =>
  url !== null &&
  (trailers.includes(id) || (pullRequest !== null && isSamePullRequest(pullRequest.url, url)));

/**
 * Returns the executions that the fact concerns, or the reason why there are none. Several executions must
 * each have been submitted with the pull request, or be named by it.
 */
async function findWork(
  client: Client,
  fact: DeliveryFact,
  repository: string,
): Promise<readonly FoundExecution[] | string> {
  const found = await findExecutions(client, fact, repository);
  const reasons = found.map((work) => mismatchReason(fact, work));
  const matches = found.filter((_, index) => reasons[index] === undefined);
  if (matches.length === 0)
    return reasons[0] ?? `no work in ${repository} has ${fact.branch ?? fact.url ?? 'it'}`;
  return matches.length > 1 && !matches.every((work) => isIntendedExecution(fact, work))
    ? `several executions match: ${matches.map(({ id }) => id).join(', ')}`
    : matches;
}

/**
 * Records a fact of the repository for the given execution. Without one, records the fact for the executions
 * that it identifies.
 */
export async function recordFact(
  client: Client,
  fact: DeliveryFact,
  {
    execution: said,
    repository,
    key = factKey(fact),
  }: { readonly execution?: string | undefined; readonly repository: string; readonly key?: string },
): Promise<FactRecording[]> {
  const { kind, at: observedAt, branch: ref, sha, before, number, url, reviewer } = fact;
  const none = (why: string): FactRecording => ({ kind, executionId: null, recorded: false, why });
  const found = said === undefined ? await findWork(client, fact, repository) : [{ id: said }];
  if (typeof found === 'string') return [none(found)];
  const observation = {
    ...{ dedupeKey: key, kind, observedAt },
    ...(ref !== null && { ref }),
    ...(sha !== null && { sha }),
    ...(before !== null && { before }),
    ...(number !== null && { number }),
    ...(url !== null && { url }),
    ...(reviewer !== null && { reviewer }),
  };
  const recordings: FactRecording[] = [];
  for (const { id: executionId } of found) {
    try {
      const { recorded } = await client.deliveryExecutions.recordForgeObservation({
        ...{ executionId, observation, repository },
      });
      recordings.push({ kind, executionId, recorded, why: recorded ? null : 'it was already recorded' });
    } catch (error) {
      if (!isRefusal(error, 'other_repository')) throw error;
      recordings.push(none(`the work of execution ${executionId} is in another repository`));
    }
  }
  return recordings;
}
