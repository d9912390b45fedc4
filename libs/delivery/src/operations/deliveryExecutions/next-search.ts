/** The search of one caller for its next story. It takes a candidate and records why it skipped others. */
import {
  isBeforeWork,
  inside,
  type PassedOver,
  type PassedOverReason,
  type registry,
  type ResultOf,
} from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';
import { lockForAcquire, toOpenExecution } from '../../data/acquiring.ts';
import { heldLease } from '../../data/leases.ts';
import { claimNext, type WorkOnStory } from '../../data/next-work.ts';
import { decideAcquire, type Holder } from '../../rules/acquire.ts';
import { judgeNext, type NextVerdict, reasonsOf } from '../../rules/next-work.ts';
import { decide, grant, holderOf, type LeaseRequest, noRank } from './granting.ts';

type Operation = typeof registry.deliveryExecutions.acquireNext;
export type SearchContext = HandlerContext<Operation>;
type Granted = Omit<ResultOf<Operation>, 'skipped'>;
type Candidate = ResultOf<typeof inside.nextStories>['items'][number];

/** A candidate as it was read, with the work on it. */
export interface CandidateWork {
  readonly candidate: Candidate;
  readonly work: WorkOnStory | undefined;
}

/** The result of an attempt to take one of several candidates. */
interface Attempted {
  readonly granted: Granted | undefined;
  /**
   * The number of candidates before the taken one that other callers have claimed or hold. If no candidate
   * was free, it is the number of all candidates.
   */
  readonly passed: number;
  /** The reasons for which the candidate was not taken. */
  readonly reasons: readonly PassedOverReason[];
  /** True if the candidate moved after it was read, and may be taken from its new column. */
  readonly moved: boolean;
}

/**
 * The number of attempts for a story that moves while the search claims it. After that the story is left to
 * those who move it.
 */
const mostTries = 3;

/** Reports whether both holders are the same member, and both act through the same agent or in person. */
export const isBy = (
  one: Pick<Holder, 'memberId' | 'agentId'>,
  other: Pick<Holder, 'memberId' | 'agentId'>,
): boolean => one.memberId === other.memberId && one.agentId === other.agentId;

/** Returns the call's filters in the form that the board's operations take. */
export function filtersOf({ params }: SearchContext) {
  const { projectId, labels, epicId, assignedToMe, start } = params;
  return { projectId, labels, epicId, assignedToMe, moves: start };
}

export class NextSearch {
  private readonly context: SearchContext;
  private readonly wanted: LeaseRequest;
  private readonly waiting: PassedOver[] = [];
  private readonly begun: PassedOver[] = [];
  private readonly claimed: CandidateWork[] = [];

  constructor(context: SearchContext, wanted: LeaseRequest) {
    this.context = context;
    this.wanted = wanted;
  }

  /** Returns the skipped stories: first those whose work has not begun, then those with work. */
  skipped(): PassedOver[] {
    return [...this.waiting, ...this.begun];
  }

  /**
   * Takes the first story of the page that the caller can take. Records the stories that it skipped before.
   */
  async takeFirst(page: readonly CandidateWork[]): Promise<Granted | undefined> {
    const judged = page.map((known) => ({ ...known, verdict: this.judge(known) }));
    const takeable = judged
      .flatMap(({ candidate, work, verdict }) =>
        verdict.kind === 'take' ? [{ candidate, work, order: verdict.order }] : [],
      )
      .sort((one, other) => one.order - other.order);
    const { taken, granted, against } = await this.takeOneOf(takeable);
    for (const { candidate, verdict } of judged) {
      // Candidates after the taken one were not skipped.
      if (candidate === taken) break;
      this.note(candidate, verdict.kind === 'pass' ? verdict.reasons : (against.get(candidate) ?? []));
    }
    return granted;
  }

  /** Tries the candidates that other callers had claimed. It waits for the end of each claim in turn. */
  async takeClaimed(): Promise<Granted | undefined> {
    for (const candidate of this.claimed) {
      const { granted } = await this.attempt([candidate], true);
      if (granted !== undefined) return granted;
    }
    return undefined;
  }

  private note({ storyId, key, status }: Candidate, reasons: readonly PassedOverReason[]): void {
    if (reasons.length === 0) return;
    (isBeforeWork(status) ? this.waiting : this.begun).push({ storyId, key, reasons: [...reasons] });
  }

  private async takeOneOf(takeable: readonly CandidateWork[]) {
    const against = new Map<Candidate, readonly PassedOverReason[]>();
    let rest = takeable;
    for (let tries = 1; rest.length > 0;) {
      const { granted, passed, reasons, moved } = await this.attempt(rest, false);
      for (const claimed of rest.slice(0, passed)) {
        against.set(claimed.candidate, ['lease_held']);
        this.claimed.push(claimed);
      }
      const [next, ...others] = rest.slice(passed);
      if (next === undefined) break;
      const { candidate } = next;
      if (granted !== undefined) return { taken: candidate, granted, against };
      against.set(candidate, reasons);
      const isTriedAgain = moved && tries < mostTries;
      tries = isTriedAgain ? tries + 1 : 1;
      rest = isTriedAgain ? [next, ...others] : others;
    }
    return { taken: undefined, granted: undefined, against };
  }

  /** Claims the first free candidate, and takes it unless its current state forbids that. */
  private async attempt(candidates: readonly CandidateWork[], waits: boolean): Promise<Attempted> {
    const { db } = this.context;
    let [passed, moved] = [candidates.length, false];
    let reasons: readonly PassedOverReason[] = [];
    const granted = await this.context.attempt(async () => {
      const ids = candidates.map(({ candidate }) => candidate.storyId);
      const nth = await claimNext(db, ids, waits);
      const claimed = candidates[nth - 1];
      if (claimed === undefined) return undefined;
      passed = nth - 1;
      const outcome = await this.take(claimed);
      if ('granted' in outcome) return outcome.granted;
      [reasons, moved] = [outcome.reasons, outcome.moved];
      return undefined;
    });
    return { granted, passed, reasons, moved };
  }

  /** Takes a claimed candidate. Members may have moved, changed or acquired it since it was read. */
  private async take({ candidate: { storyId, status }, work }: CandidateWork) {
    const { context, wanted } = this;
    const { db, perform, policy } = context;
    const [onBoard, facts, policyNow] = await Promise.all([
      // Lock order: columns before leases.
      perform(inside.beginStory, {
        ...{ ...filtersOf(context), storyId, status },
        isSentBack: work?.needs_rework === true,
      }),
      lockForAcquire(db, 'story', storyId),
      policy(),
    ]);
    const { begins, reasons, moved } = onBoard;
    if (!begins) return { reasons, moved };
    const decision = decide(context, facts, wanted, noRank);
    if (decision.kind !== 'grant') return { reasons: reasonsOf(decision), moved };
    return { granted: await grant(context, facts, decision, wanted, policyNow) };
  }

  private judge({ candidate: { status, reasons }, work }: CandidateWork): NextVerdict {
    if (work === undefined) return { kind: 'ignore' };
    const { state, offer, is_stopped: isStopped, rework_for: reworkFor } = work;
    const caller = holderOf(this.context, this.wanted);
    return judgeNext({
      status,
      reasons,
      isGrouped: work.is_grouped,
      isSubmitted: work.awaits_forge,
      isReworkOfAnother: reworkFor !== null && !isBy(reworkFor, caller),
      // With `start`, the board decides whether a story has begun. A member who moves a story back to ready
      // wants the work to be taken up again.
      boardDecides: this.wanted.start,
      decision: decideAcquire({
        now: work.now,
        caller,
        isLead: false,
        takeOver: false,
        own: heldLease(work.lease ?? undefined),
        rivals: [],
        execution: toOpenExecution(state === null ? undefined : { state, offer }),
        isStopped,
        liftsStop: false,
        rivalExecutions: [],
      }),
    });
  }
}
