import { type InputOf, internalOperations, type ResultOf, type StoryStatus } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { getActivityPosition } from '@muster/tenancy';
import { listExceededBudgets } from '../../data/exceeded-budgets.ts';
import { lockClaimant } from '../../data/claimants.ts';
import {
  type BegunStory,
  findBegunStories,
  findStoryHeldByRun,
  lockNextSearchOfRun,
  readWorkOnStories,
} from '../../data/next-work.ts';
import { isOfferedTo } from '../../rules/acquire.ts';
import { eventsThatFreeStories } from '../../rules/next-work.ts';
import { acquireTarget, toHolder, type LeaseRequest } from './granting.ts';
import { toBoardFilters, isSameMemberAndAgent, type CandidateWork, NextStorySearch } from './next-search.ts';
import { reissueToken } from './reissue.ts';
import { type SearchContext } from './search-context.ts';

type CandidatePage = ResultOf<typeof internalOperations.nextStories>;

/**
 * The page sizes of the search for candidates. The first page usually contains the next story. Each later page
 * is larger, since the next story is then usually far down the list.
 */
const [firstPageSize, pageGrowth, maxPageSize] = [4, 8, 256];
/** The maximum number of stories with started work that one search considers. */
const maxStartedStories = 1_000;
const maxSkippedStories = 20;
const begunStatuses: StoryStatus[] = ['in_progress', 'in_review'];

export const acquireNext = handle(
  deliveryRegistry.deliveryExecutions.acquireNext,
  async (context) => {
    const wanted: LeaseRequest = { ...context.params, takeOver: false, isTargetNamed: false };
    const { db, caller, targetId, waitForNewEvents } = context;
    const { waitSeconds } = context.params;
    const me = toHolder(context, wanted);
    const [activityAfter, exceeded, , , ready, begun, held] = await Promise.all([
      // The position comes before the search, so that an event during the search ends the wait.
      waitSeconds > 0 ? getActivityPosition(db) : undefined,
      caller.agentId === null ? [] : listExceededBudgets(db, targetId, caller.agentId),
      lockClaimant(db, caller),
      me.runId === null ? undefined : lockNextSearchOfRun(db, targetId, me),
      readCandidates(context, { statuses: ['ready'], limit: firstPageSize }),
      findBegunStories(db, targetId, { held: false, limit: maxStartedStories }),
      me.runId === null ? undefined : findStoryHeldByRun(db, targetId, me),
    ]);
    if (held !== undefined) return { ...(await acquireTarget(context, 'story', held, wanted)), skipped: [] };
    const search = new NextStorySearch(context, wanted, exceeded);
    const skipped = () => search.skipped().slice(0, maxSkippedStories);
    for await (const page of candidatePages(context, ready, begun)) {
      const granted = await search.takeFirst(page);
      if (granted !== undefined) return { ...granted, skipped: skipped() };
    }
    const last = await search.takeClaimed();
    if (last !== undefined) return { ...last, skipped: skipped() };
    context.reportNoChange();
    if (activityAfter !== undefined) {
      const { projectId } = await context.access();
      waitForNewEvents({
        position: { activityAfter, projectId, kinds: eventsThatFreeStories },
        timeoutSeconds: waitSeconds,
      });
    }
    return { execution: null, leaseToken: null, resumed: false, signals: [], skipped: skipped() };
  },
  {
    // While one call writes its story, other calls of the same project search for their stories.
    maxConcurrentCalls: 3,
    reissueSecret: async (context, kept) => ({
      ...kept,
      leaseToken: kept.execution === null ? null : await reissueToken(context, kept.execution),
    }),
  },
);

type CandidatePageRequest = Pick<
  InputOf<typeof internalOperations.nextStories>,
  'statuses' | 'storyIds' | 'after' | 'limit'
>;

/** Reads a page of candidates in order, without locks. */
const readCandidates = (context: SearchContext, page: CandidatePageRequest): Promise<CandidatePage> =>
  context.perform(internalOperations.nextStories, { ...page, ...toBoardFilters(context) });

const storyIdsOf = (items: CandidatePage['items']): string[] => items.map(({ storyId }) => storyId);

/** Yields candidates page by page with the work on them, starting with a page that was already read. */
async function* withWork(
  context: SearchContext,
  stories: Pick<CandidatePageRequest, 'statuses' | 'storyIds'>,
  firstPage: CandidatePage,
): AsyncGenerator<CandidateWork[]> {
  let pageSize = firstPageSize;
  for (let { items, next } = firstPage; ;) {
    if (items.length > 0) {
      const work = await readWorkOnStories(context.db, storyIdsOf(items));
      const workByStory = new Map(work.map((row) => [row.story_id, row]));
      yield items.map((candidate) => ({ candidate, work: workByStory.get(candidate.storyId) }));
    }
    if (next === null) return;
    pageSize = Math.min(pageSize * pageGrowth, maxPageSize);
    ({ items, next } = await readCandidates(context, { ...stories, limit: pageSize, after: next }));
  }
}

/** Yields, page by page, the candidates among the stories whose work has begun. */
async function* begunCandidates(
  context: SearchContext,
  begun: readonly BegunStory[],
): AsyncGenerator<CandidateWork[]> {
  if (begun.length === 0) return;
  const stories = { statuses: begunStatuses, storyIds: begun.map((story) => story.story_id) };
  yield* withWork(context, stories, await readCandidates(context, { ...stories, limit: firstPageSize }));
}

/**
 * Yields all candidates page by page. Held stories come last: the caller cannot take them, but the answer
 * names them as skipped.
 */
async function* candidatePages(
  context: SearchContext,
  ready: CandidatePage,
  begun: readonly BegunStory[],
): AsyncGenerator<CandidateWork[]> {
  const { db, caller, targetId } = context;
  const isForCaller = ({ offer, rework_for: reworkFor }: BegunStory): boolean =>
    (offer !== null && isOfferedTo(offer, caller)) ||
    (reworkFor !== null && isSameMemberAndAgent(reworkFor, caller));
  yield* begunCandidates(context, begun.filter(isForCaller));
  yield* begunCandidates(
    context,
    begun.filter((story) => !isForCaller(story)),
  );
  yield* withWork(context, { statuses: ['ready'] }, ready);
  const backlog = { statuses: ['backlog'] } satisfies Pick<CandidatePageRequest, 'statuses'>;
  yield* withWork(context, backlog, await readCandidates(context, { ...backlog, limit: firstPageSize }));
  yield* begunCandidates(
    context,
    await findBegunStories(db, targetId, { held: true, limit: maxSkippedStories }),
  );
}
