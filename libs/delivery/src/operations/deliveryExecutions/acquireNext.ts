import {
  type InputOf,
  inside,
  type PassedOver,
  type PassedOverReason,
  registry,
  type ResultOf,
  type StoryStatus,
} from '@muster/registry';
import { handle, type HandlerContext } from '@muster/runtime';
import { lockForAcquire, toOpenExecution } from '../../data/acquiring.ts';
import { lockClaimant } from '../../data/claimants.ts';
import { heldLease } from '../../data/leases.ts';
import {
  findBegun,
  findHeldByRun,
  holdStory,
  letGo,
  readWorkOn,
  type WorkOnStory,
} from '../../data/next-work.ts';
import { decideAcquire } from '../../rules/acquire.ts';
import { isBegun, judgeNext, reasonsOf } from '../../rules/next-work.ts';
import { acquireTarget, decide, grant, holderOf, startStory, type Wanted } from './granting.ts';
import { reissuedToken } from './reissue.ts';

type Operation = typeof registry.deliveryExecutions.acquireNext;
type Context = HandlerContext<Operation>;
type Result = ResultOf<Operation>;

/** Stories that are looked at in one go: mostly the next is among the first, and where it is not, far from them. */
const [firstLook, laterLooks] = [32, 256];
/** As many as are asked for by id in one go. */
const mostBegun = 1_000;
const mostSkipped = 20;

export const acquireNext = handle(
  registry.deliveryExecutions.acquireNext,
  async (context) => {
    const wanted: Wanted = { ...context.params, takeOver: false };
    const { db, caller, targetId } = context;
    const me = holderOf(context, wanted);
    // What a twin of this call has just taken is seen behind the lock of the columns, so all of it is asked for there.
    const [, ready, begun, held] = await Promise.all([
      lockClaimant(db, caller),
      look(context, { statuses: ['ready'], offset: 0, limit: firstLook }),
      findBegun(db, targetId, { held: false, limit: mostBegun }),
      me.runId === null ? undefined : findHeldByRun(db, targetId, me),
    ]);
    if (held !== undefined) return { ...(await acquireTarget(context, 'story', held, wanted)), skipped: [] };
    const skipped = new Skipped();
    for await (const candidates of pages(context, ready, begun)) {
      const granted = await takeFirst(context, wanted, candidates, skipped);
      if (granted !== undefined) return { ...granted, skipped: skipped.shown() };
    }
    return { execution: null, leaseToken: null, resumed: false, signals: [], skipped: skipped.shown() };
  },
  {
    reissue: async (context, kept) => ({
      ...kept,
      leaseToken: kept.execution === null ? null : await reissuedToken(context, kept.execution),
    }),
  },
);

type Candidate = ResultOf<typeof inside.nextStories>['items'][number];

/** The stories that were passed over: those that wait to be begun are told of before those that others work on. */
class Skipped {
  private readonly waiting: PassedOver[] = [];
  private readonly begun: PassedOver[] = [];

  add({ storyId, key, status }: Candidate, reasons: readonly PassedOverReason[]) {
    (isBegun(status) ? this.begun : this.waiting).push({ storyId, key, reasons: [...reasons] });
  }

  shown(): PassedOver[] {
    return [...this.waiting, ...this.begun].slice(0, mostSkipped);
  }
}

type Page = Pick<InputOf<typeof inside.nextStories>, 'statuses' | 'storyIds' | 'offset' | 'limit'>;

/** A page of candidates in their order, while the columns of work are locked. */
function look({ params, perform }: Context, page: Page): Promise<ResultOf<typeof inside.nextStories>> {
  const { projectId, labels, epicId, assignedToMe, start } = params;
  return perform(inside.nextStories, { ...page, projectId, labels, epicId, assignedToMe, moves: start });
}

/** Those of some stories that are in the hands of work. */
async function lookAtBegun(context: Context, storyIds: string[]): Promise<readonly Candidate[]> {
  if (storyIds.length === 0) return [];
  const page = { storyIds, offset: 0, limit: storyIds.length };
  return (await look(context, { ...page, statuses: ['in_progress', 'in_review'] })).items;
}

/** All candidates, page by page. What is held by now comes last: nobody takes it, but callers hear of it. */
async function* pages(
  context: Context,
  ready: ResultOf<typeof inside.nextStories>,
  begun: string[],
): AsyncGenerator<readonly Candidate[]> {
  yield await lookAtBegun(context, begun);
  yield ready.items;
  const rest = async function* (status: StoryStatus, from: number): AsyncGenerator<readonly Candidate[]> {
    for (let offset = from; ; offset += laterLooks) {
      const { items, more } = await look(context, { statuses: [status], offset, limit: laterLooks });
      yield items;
      if (!more) return;
    }
  };
  if (ready.more) yield* rest('ready', firstLook);
  yield* rest('backlog', 0);
  const { db, targetId } = context;
  yield await lookAtBegun(context, await findBegun(db, targetId, { held: true, limit: mostSkipped }));
}

/** Takes the first of the candidates that can be taken. What was passed over before it is noted. */
async function takeFirst(
  context: Context,
  wanted: Wanted,
  candidates: readonly Candidate[],
  skipped: Skipped,
): Promise<Omit<Result, 'skipped'> | undefined> {
  if (candidates.length === 0) return undefined;
  const { db, policy, projectRank } = context;
  const work = await readWorkOn(
    db,
    candidates.map(({ storyId }) => storyId),
  );
  const workOn = new Map(work.map((row) => [row.story_id, row]));
  const judged = candidates.map((candidate) => ({
    candidate,
    verdict: judge(context, wanted, candidate, workOn.get(candidate.storyId)),
  }));
  const takeable = judged
    .flatMap(({ candidate, verdict }) => (verdict.kind === 'take' ? [{ candidate, ...verdict }] : []))
    .sort((one, other) => one.order - other.order);
  const [first] = takeable;
  for (const { candidate, verdict } of judged) {
    if (verdict.kind === 'pass') skipped.add(candidate, verdict.reasons);
    // What comes after the one that is taken was not passed over.
    if (candidate === first?.candidate) break;
  }
  for (const { candidate } of takeable) {
    const [, facts, policyNow, rank] = await Promise.all([
      holdStory(db, candidate.storyId),
      lockForAcquire(db, 'story', candidate.storyId),
      policy(),
      projectRank(),
    ]);
    // Who takes no part in this order may have come before: it was moved, or taken by name.
    const isAsSeen = facts.target.status === candidate.status;
    const decision = isAsSeen ? decide(context, facts, wanted, rank) : undefined;
    if (decision?.kind === 'grant') {
      if (wanted.start) await startStory(context, facts.target);
      return grant(context, facts, decision, wanted, policyNow);
    }
    await letGo(db);
    if (decision?.kind === 'refuse') skipped.add(candidate, reasonsOf(decision));
  }
  return undefined;
}

function judge(
  context: Context,
  wanted: Wanted,
  { status, reasons }: Candidate,
  work: WorkOnStory | undefined,
) {
  if (work === undefined) return { kind: 'ignore' } as const;
  const { state, offer, stop_requested } = work;
  return judgeNext({
    status,
    reasons,
    isGrouped: work.is_grouped,
    isSubmitted: work.awaits_forge,
    // Who moves it back to ready wants it to be taken up again, where the board says what is begun.
    boardDecides: wanted.start,
    decision: decideAcquire({
      now: work.now,
      caller: holderOf(context, wanted),
      isLead: false,
      takeOver: false,
      own: heldLease(work.lease ?? undefined),
      rivals: [],
      execution: toOpenExecution(state === null ? undefined : { state, offer, stop_requested }),
    }),
  });
}
