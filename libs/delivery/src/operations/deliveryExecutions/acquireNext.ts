import { type InputOf, inside, registry, type ResultOf, type StoryStatus } from '@muster/registry';
import { handle } from '@muster/runtime';
import { lockClaimant } from '../../data/claimants.ts';
import { findBegun, findHeldByRun, lockRun, readWorkOn, type WorkOnStory } from '../../data/next-work.ts';
import { isOfferedTo } from '../../rules/acquire.ts';
import { acquireTarget, holderOf, type LeaseRequest } from './granting.ts';
import { filtersOf, isBy, type CandidateWork, NextSearch, type SearchContext } from './next-search.ts';
import { reissuedToken } from './reissue.ts';

type Looked = ResultOf<typeof inside.nextStories>;

/**
 * The page sizes of the search for candidates. The first page usually contains the next story. Otherwise the
 * next story is usually far down the list.
 */
const [firstLook, laterLooks] = [8, 256];
/** The maximum number of story IDs in one query. */
const mostBegun = 1_000;
const mostSkipped = 20;
const begunStatuses: StoryStatus[] = ['in_progress', 'in_review'];

export const acquireNext = handle(
  registry.deliveryExecutions.acquireNext,
  async (context) => {
    const wanted: LeaseRequest = { ...context.params, takeOver: false, isNamed: false };
    const { db, caller, targetId } = context;
    const me = holderOf(context, wanted);
    const [, , ready, begun, held] = await Promise.all([
      lockClaimant(db, caller),
      me.runId === null ? undefined : lockRun(db, targetId, me),
      look(context, { statuses: ['ready'], limit: firstLook }),
      findBegun(db, targetId, { held: false, limit: mostBegun }),
      me.runId === null ? undefined : findHeldByRun(db, targetId, me),
    ]);
    if (held !== undefined) return { ...(await acquireTarget(context, 'story', held, wanted)), skipped: [] };
    const search = new NextSearch(context, wanted);
    const skipped = () => search.skipped().slice(0, mostSkipped);
    for await (const page of pages(context, ready, begun)) {
      const granted = await search.takeFirst(page);
      if (granted !== undefined) return { ...granted, skipped: skipped() };
    }
    const last = await search.takeClaimed();
    if (last !== undefined) return { ...last, skipped: skipped() };
    context.changedNothing();
    return { execution: null, leaseToken: null, resumed: false, signals: [], skipped: skipped() };
  },
  {
    // While one call writes its story, other calls of the same project search for their stories.
    atOnce: 3,
    reissue: async (context, kept) => ({
      ...kept,
      leaseToken: kept.execution === null ? null : await reissuedToken(context, kept.execution),
    }),
  },
);

type Page = Pick<InputOf<typeof inside.nextStories>, 'statuses' | 'storyIds' | 'after' | 'limit'>;

/** Reads a page of candidates in order, without locks. */
const look = (context: SearchContext, page: Page): Promise<Looked> =>
  context.perform(inside.nextStories, { ...page, ...filtersOf(context) });

const idsOf = (items: Looked['items']): string[] => items.map(({ storyId }) => storyId);

const known = (items: Looked['items'], workOn: ReadonlyMap<string, WorkOnStory>): CandidateWork[] =>
  items.map((candidate) => ({ candidate, work: workOn.get(candidate.storyId) }));

const byStory = (work: readonly WorkOnStory[]): ReadonlyMap<string, WorkOnStory> =>
  new Map(work.map((row) => [row.story_id, row]));

/** Yields the candidates of a status page by page, starting with a page that was already read. */
async function* inOrder(
  context: SearchContext,
  status: StoryStatus,
  first: Looked,
): AsyncGenerator<CandidateWork[]> {
  for (let { items, next } = first; ;) {
    if (items.length > 0) yield known(items, byStory(await readWorkOn(context.db, idsOf(items))));
    if (next === null) return;
    ({ items, next } = await look(context, { statuses: [status], limit: laterLooks, after: next }));
  }
}

/** Yields, page by page, the candidates among the stories that have work in progress. */
async function* atWork(
  context: SearchContext,
  work: readonly WorkOnStory[],
): AsyncGenerator<CandidateWork[]> {
  if (work.length === 0) return;
  const workOn = byStory(work);
  const page = { statuses: begunStatuses, storyIds: [...workOn.keys()] };
  let { items, next } = await look(context, { ...page, limit: firstLook });
  yield known(items, workOn);
  while (next !== null) {
    ({ items, next } = await look(context, { ...page, limit: laterLooks, after: next }));
    yield known(items, workOn);
  }
}

/**
 * Yields all candidates page by page. Held stories come last: the caller cannot take them, but the answer
 * names them as skipped.
 */
async function* pages(
  context: SearchContext,
  ready: Looked,
  begun: readonly WorkOnStory[],
): AsyncGenerator<CandidateWork[]> {
  const { db, caller, targetId } = context;
  const isForCaller = ({ offer, rework_for: reworkFor }: WorkOnStory): boolean =>
    (offer !== null && isOfferedTo(offer, caller)) || (reworkFor !== null && isBy(reworkFor, caller));
  yield* atWork(context, begun.filter(isForCaller));
  yield* atWork(
    context,
    begun.filter((work) => !isForCaller(work)),
  );
  yield* inOrder(context, 'ready', ready);
  yield* inOrder(context, 'backlog', await look(context, { statuses: ['backlog'], limit: laterLooks }));
  yield* atWork(context, await findBegun(db, targetId, { held: true, limit: mostSkipped }));
}
