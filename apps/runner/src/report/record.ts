/** Finds the work that a fact is about, and records the fact. */
import { type Client, isRefusal } from '@muster/client';
import { type DeliveryFact, factKey } from '@muster/forges/reading';
import { type Execution, parsePullUrl } from '@muster/registry';

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
    const { items } = await client.deliveryExecutions.list({ ...way, limit: 50 });
    const newest = new Map<string, FoundExecution>();
    for (const item of items) if (!newest.has(item.targetId)) newest.set(item.targetId, item);
    if (newest.size > 0) return [...newest.values()];
  }
  return [];
}

/** Returns true if both addresses name one pull request. Muster stores the address that its forge prefers. */
function isSamePullRequest(firstUrl: string, secondUrl: string): boolean {
  const [first, second] = [parsePullUrl(firstUrl), parsePullUrl(secondUrl)];
  if (first === undefined || second === undefined) return firstUrl === secondUrl;
  return first.repository === second.repository && first.number === second.number;
}

/**
 * Returns the reason why a fact of a pull request does not concern the execution that it names; undefined if
 * it does.
 */
function mismatchReason(
  { url, base }: DeliveryFact,
  { git, pullRequest }: FoundExecution,
): string | undefined {
  if (base !== null && git?.baseBranch != null && git.baseBranch !== base)
    return `the work targets ${git.baseBranch}, but the pull request targets ${base}`;
  if (url !== null && pullRequest !== null && !isSamePullRequest(pullRequest.url, url))
    return `the work was submitted with ${pullRequest.url}`;
  return undefined;
}

/**
 * Records a fact for the given execution. Without one, records the fact for the execution that it identifies.
 */
export async function recordFact(
  client: Client,
  fact: DeliveryFact,
  {
    execution: said,
    key = factKey(fact),
  }: { readonly execution?: string | undefined; readonly key?: string },
): Promise<FactRecording> {
  const { kind, at: observedAt, branch: ref, sha, number, url } = fact;
  const none = (why: string): FactRecording => ({ kind, executionId: null, recorded: false, why });
  let executionId = said;
  if (executionId === undefined) {
    const [work, ...more] = await findExecutions(client, fact);
    if (work === undefined) return none(`no work has ${ref ?? url ?? 'it'}`);
    if (more.length > 0)
      return none(`several executions match: ${[work, ...more].map(({ id }) => id).join(', ')}`);
    const why = mismatchReason(fact, work);
    if (why !== undefined) return none(why);
    executionId = work.id;
  }
  const { recorded } = await client.deliveryExecutions.recordForgeObservation({
    executionId,
    observation: {
      ...{ dedupeKey: key, kind, observedAt },
      ...(ref !== null && { ref }),
      ...(sha !== null && { sha }),
      ...(number !== null && { number }),
      ...(url !== null && { url }),
    },
  });
  return { kind, executionId, recorded, why: recorded ? null : 'it was already recorded' };
}
