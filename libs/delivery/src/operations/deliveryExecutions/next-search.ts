/** The search of one caller for its next story. It takes a candidate and records why it skipped others. */
import {
  isBeforeWork,
  internalOperations,
  type ConflictingWork,
  type PassedOver,
  type PassedOverReason,
  type ResultOf,
} from '@muster/contract';
import { lockForAcquire, toOpenExecution } from '../../data/acquiring.ts';
import { toHeldLease } from '../../data/leases.ts';
import { type ExceededBudget, exceededBudgetFor } from '../../data/exceeded-budgets.ts';
import { claimFirstFreeStory, type WorkOnStory } from '../../data/next-work.ts';
import { decideAcquire, type Holder } from '../../rules/acquire.ts';
import { StepBudget } from '../../rules/glob-intersection.ts';
import { maxSearchSteps } from '../../rules/lock-limits.ts';
import { judgeNextStory, type NextStoryVerdict, refusalReasons } from '../../rules/next-work.ts';
import { type StoryConflict } from '../../rules/story-conflicts.ts';
import { findConflicts } from './avoiding-conflicts.ts';
import { decideGrant, grantLeaseOnTarget, toHolder, type LeaseRequest, unusedRank } from './granting.ts';
import { type AcquireNextOperation, type Candidate, type SearchContext } from './search-context.ts';

type GrantResult = Omit<ResultOf<AcquireNextOperation>, 'skipped'>;

/** A candidate as it was read, with the work on it. */
export interface CandidateWork {
  readonly candidate: Candidate;
  readonly work: WorkOnStory | undefined;
}

/** The reasons for which a candidate was not taken, and its conflict with others, if that is a reason. */
interface SkipReasons {
  readonly reasons: readonly PassedOverReason[];
  readonly conflict?: StoryConflict<ConflictingWork> | undefined;
}

const toSkipReasons = (conflict: StoryConflict<ConflictingWork>): SkipReasons => ({
  reasons: ['conflict'],
  conflict,
});

/** The result of an attempt to take one of several candidates. */
interface TakeAttemptResult {
  readonly granted: GrantResult | undefined;
  /**
   * The number of candidates before the taken one that other callers have claimed or hold. If no candidate
   * was free, it is the number of all candidates.
   */
  readonly passedOverCount: number;
  readonly skipReasons: SkipReasons;
  /** True if the candidate moved after it was read, and may be taken from its new column. */
  readonly hasMoved: boolean;
}

/**
 * The number of attempts for a story that moves while the search claims it. After that the story is left to
 * those who move it.
 */
const maxAttempts = 3;

/** The number of candidates that are compared with the work of others before the search tries to take one. */
const compareBatchSize = 16;

/** Reports whether both holders are the same member, and both act through the same agent or in person. */
export const isSameMemberAndAgent = (
  left: Pick<Holder, 'memberId' | 'agentId'>,
  right: Pick<Holder, 'memberId' | 'agentId'>,
): boolean => left.memberId === right.memberId && left.agentId === right.agentId;

/** Returns the call's filters in the form that the board's operations take. */
export function toBoardFilters({ params }: SearchContext) {
  const { projectId, labels, epicId, assignedToMe, start } = params;
  return { projectId, labels, epicId, assignedToMe, moves: start };
}

export class NextStorySearch {
  private readonly context: SearchContext;
  private readonly request: LeaseRequest;
  /** The budgets that stop work of the calling agent in this project. */
  private readonly exceeded: readonly ExceededBudget[];
  private readonly skippedBeforeWork: PassedOver[] = [];
  private readonly skippedWithWork: PassedOver[] = [];
  private readonly claimedByOthers: CandidateWork[] = [];
  private readonly compareBudget = new StepBudget(maxSearchSteps);
  /** A separate budget for repeated comparisons: a story that was found free is compared again when claimed. */
  private readonly finalCompareBudget = new StepBudget(maxSearchSteps);

  constructor(context: SearchContext, wanted: LeaseRequest, exceeded: readonly ExceededBudget[]) {
    this.exceeded = exceeded;
    this.context = context;
    this.request = wanted;
  }

  /** Returns the skipped stories: first those whose work has not begun, then those with work. */
  skipped(): PassedOver[] {
    return [...this.skippedBeforeWork, ...this.skippedWithWork];
  }

  /**
   * Takes the first story of the page that the caller can take. Records the stories that it skipped before.
   */
  async takeFirst(page: readonly CandidateWork[]): Promise<GrantResult | undefined> {
    const judged = page.map((known) => ({ ...known, verdict: this.judge(known) }));
    const takeable = judged
      .flatMap(({ candidate, work, verdict }) =>
        verdict.kind === 'take' ? [{ candidate, work, order: verdict.order }] : [],
      )
      .sort((one, other) => one.order - other.order);
    const { taken, granted, against } = await this.takeWithoutConflicts(takeable);
    for (const { candidate, verdict } of judged) {
      // Candidates after the taken one were not skipped.
      if (candidate === taken) break;
      this.recordSkipped(
        candidate,
        verdict.kind === 'pass' ? { reasons: verdict.reasons } : (against.get(candidate) ?? { reasons: [] }),
      );
    }
    return granted;
  }

  /** Tries the candidates that other callers had claimed. It waits for the end of each claim in turn. */
  async takeClaimed(): Promise<GrantResult | undefined> {
    for (const candidate of this.claimedByOthers) {
      const { granted } = await this.attempt([candidate], true);
      if (granted !== undefined) return granted;
    }
    return undefined;
  }

  private recordSkipped(
    { storyId, key, status }: Candidate,
    { reasons, conflict = { witness: null, with: null } }: SkipReasons,
  ): void {
    if (reasons.length === 0) return;
    (isBeforeWork(status) ? this.skippedBeforeWork : this.skippedWithWork).push({
      ...{ storyId, key },
      reasons: [...reasons],
      ...conflict,
    });
  }

  /**
   * Leaves out the candidates that conflict with the work of others, and takes one of the rest. It compares
   * them in batches and stops after the batch with the taken one.
   */
  private async takeWithoutConflicts(takeable: readonly CandidateWork[]) {
    const against = new Map<Candidate, SkipReasons>();
    for (let start = 0; start < takeable.length; start += compareBatchSize) {
      const batch = takeable.slice(start, start + compareBatchSize);
      const candidates = batch.map(({ candidate }) => candidate);
      const conflicts = await findConflicts(this.context, this.request, candidates, {
        ...{ isFinal: false, stepBudget: this.compareBudget },
      });
      const free = batch.filter(({ candidate }) => !conflicts.has(candidate));
      const { taken, granted, against: found } = await this.takeOneOf(free);
      for (const [candidate, conflict] of conflicts) against.set(candidate, toSkipReasons(conflict));
      for (const [candidate, reasons] of found) against.set(candidate, reasons);
      if (granted !== undefined) return { taken, granted, against };
    }
    return { taken: undefined, granted: undefined, against };
  }

  private async takeOneOf(takeable: readonly CandidateWork[]) {
    const against = new Map<Candidate, SkipReasons>();
    let rest = takeable;
    for (let tries = 1; rest.length > 0;) {
      const { granted, passedOverCount, skipReasons: found, hasMoved } = await this.attempt(rest, false);
      for (const claimed of rest.slice(0, passedOverCount)) {
        against.set(claimed.candidate, { reasons: ['lease_held'] });
        this.claimedByOthers.push(claimed);
      }
      const [next, ...others] = rest.slice(passedOverCount);
      if (next === undefined) break;
      const { candidate } = next;
      if (granted !== undefined) return { taken: candidate, granted, against };
      against.set(candidate, found);
      const isTriedAgain = hasMoved && tries < maxAttempts;
      tries = isTriedAgain ? tries + 1 : 1;
      rest = isTriedAgain ? [next, ...others] : others;
    }
    return { taken: undefined, granted: undefined, against };
  }

  /** Claims the first free candidate, and takes it unless its current state forbids that. */
  private async attempt(
    candidates: readonly CandidateWork[],
    waitsForClaims: boolean,
  ): Promise<TakeAttemptResult> {
    const { db } = this.context;
    let [passed, moved] = [candidates.length, false];
    let against: SkipReasons = { reasons: [] };
    const granted = await this.context.runInSavepoint(async () => {
      const ids = candidates.map(({ candidate }) => candidate.storyId);
      const nth = await claimFirstFreeStory(db, ids, waitsForClaims);
      const claimed = candidates[nth - 1];
      if (claimed === undefined) return undefined;
      passed = nth - 1;
      const outcome = await this.take(claimed);
      if ('granted' in outcome) return outcome.granted;
      [against, moved] = [outcome.against, outcome.moved];
      return undefined;
    });
    return { granted, passedOverCount: passed, skipReasons: against, hasMoved: moved };
  }

  /** Takes a claimed candidate. Members may have moved, changed or acquired it since it was read. */
  private async take({ candidate, work }: CandidateWork) {
    const { context, request } = this;
    const { db, perform, policy } = context;
    const { storyId, status } = candidate;
    const [conflicts, onBoard, facts, policyNow] = await Promise.all([
      findConflicts(context, request, [candidate], {
        ...{ isFinal: true, stepBudget: this.finalCompareBudget },
      }),
      // Lock order: columns before leases.
      perform(internalOperations.beginStory, {
        ...{ ...toBoardFilters(context), storyId, status },
        isSentBack: work?.needs_rework === true,
      }),
      lockForAcquire(db, 'story', storyId),
      policy(),
    ]);
    const conflict = conflicts.get(candidate);
    if (conflict !== undefined) return { against: toSkipReasons(conflict), moved: false };
    const { begins, reasons, moved } = onBoard;
    if (!begins) return { against: { reasons }, moved };
    const decision = decideGrant(context, facts, request, unusedRank, this.exceeded);
    if (decision.kind !== 'grant') return { against: { reasons: refusalReasons(decision) }, moved };
    return { granted: await grantLeaseOnTarget(context, facts, decision, request, policyNow) };
  }

  private judge({ candidate: { storyId, status, reasons }, work }: CandidateWork): NextStoryVerdict {
    if (work === undefined) return { kind: 'ignore' };
    const { state, offer, is_stopped: isStopped, rework_for: reworkFor } = work;
    const caller = toHolder(this.context, this.request);
    return judgeNextStory({
      status,
      reasons,
      isGrouped: work.is_grouped,
      isSubmitted: work.awaits_forge,
      isReworkReservedForAnother: reworkFor !== null && !isSameMemberAndAgent(reworkFor, caller),
      // With `start`, the board decides whether a story has begun. A member who moves a story back to ready
      // wants the work to be taken up again.
      isMovedBackNotBegun: this.request.start,
      decision: decideAcquire({
        now: work.now,
        caller,
        isLead: false,
        takeOver: false,
        targetLease: toHeldLease(work.lease ?? undefined),
        rivalLeases: [],
        execution: toOpenExecution(state === null ? undefined : { state, offer }),
        // The board's reasons against beginning the story contain open children.
        hasOpenChildren: false,
        isStopped,
        isOverBudget: exceededBudgetFor(this.exceeded, storyId) !== undefined,
        isTargetNamed: false,
        mayLiftStop: false,
        rivalExecutions: [],
      }),
    });
  }
}
