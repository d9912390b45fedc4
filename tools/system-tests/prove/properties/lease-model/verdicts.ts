/** The contract's verdict on each call: what an accepted call does, and the reason for a refusal. */
import { type StoryName, type TargetName } from '../../board.ts';
import { type Grant } from '../../calls.ts';
import { type Name } from '../../team.ts';
import {
  type ModelEnding,
  type ModelExecution,
  finish,
  type ModelHolder,
  isOver,
  isSame,
  isStory,
  type Model,
  moveStory,
  openOf,
  ownerOf,
  rivalsOf,
  shownState,
  storiesOf,
  type Target,
} from './model.ts';

export type Forecast =
  /** The call succeeds. `apply` changes the model and returns the fields that the answer must have. */
  | { readonly kind: 'done'; readonly apply: (result: Record<string, unknown>) => Expected }
  /**
   * The call is refused and changes nothing. If several reasons apply, any of them is correct. With
   * `mayBeDone` the contract also allows success.
   */
  | {
      readonly kind: 'refused';
      readonly reasons: readonly string[];
      readonly epoch?: number;
      readonly mayBeDone?: boolean;
    };

/** The fields that the answer must have. */
export type Expected = Record<string, unknown>;

export const refused = (...reasons: string[]): Forecast => ({ kind: 'refused', reasons });
export const done = (apply: (result: Record<string, unknown>) => Expected): Forecast => ({
  ...{ kind: 'done', apply },
});

const isLead = (person: Name): boolean => person === 'ana';
const isAgent = (person: Name): boolean => person === 'robo';
/** Returns true for the viewer, all of whose writes are refused. */
export const isViewer = (person: Name): boolean => person === 'dan';

/** Returns the fields of an execution that an answer shows. */
export const shown = (target: Target, execution: ModelExecution): Expected => ({
  id: execution.id,
  state: shownState(target, execution),
  attempt: execution.attempt,
  leaseEpoch: target.lease === null ? null : target.epoch,
});

const grantedTtl = (asked: number | undefined): number => Math.min(14_400, Math.max(5, asked ?? 900));

export interface AcquireCall {
  readonly target: TargetName;
  readonly holder: ModelHolder;
  readonly takeOver: boolean;
  readonly start: boolean;
  readonly ttl: number | undefined;
}

/** Returns the person to whom the execution is offered; null if there is no valid offer. */
const addresseeOf = (work: ModelExecution | null): Name | null =>
  work?.state === 'offered' && work.offer?.lapsed === false ? work.offer.to : null;

export function acquire(model: Model, call: AcquireCall): Forecast {
  const { holder } = call;
  if (isViewer(holder.person)) return refused('forbidden');
  const target = model.targets[call.target];
  const open = openOf(target);
  const { lease } = target;
  const reasons: string[] = [];
  if (isOver(model, call.target)) reasons.push('invalid_transition');
  if (target.execution?.stop != null && isAgent(holder.person)) reasons.push('stop_requested');
  const isOwn = lease !== null && isSame(lease.holder, holder);
  const rivals = rivalsOf(call.target)
    .map((name) => model.targets[name])
    .filter(({ lease: other }) => other !== null && !isSame(other.holder, holder));
  const isAddressee = addresseeOf(open) === holder.person;
  const isReserved = (work: ModelExecution | null): boolean =>
    ![null, holder.person].includes(addresseeOf(work));
  if (!isOwn) {
    if (rivalsOf(call.target).some((name) => isReserved(openOf(model.targets[name]))))
      reasons.push('reserved');
    if (rivals.some(({ lease: other }) => other?.expired === false)) reasons.push('lease_held');
    const isOwnAgents = lease?.holder.person === 'robo' && ['chloe', 'robo'].includes(holder.person);
    if (lease?.expired === false && !(isOwnAgents && call.takeOver))
      reasons.push(...byForce(call, 'lease_held'));
    if (isReserved(open)) reasons.push(...byForce(call, 'reserved'));
  }
  if (reasons.length > 0) return refused(...reasons);

  return done((result) => {
    const isNew = open === null;
    // Agents were refused above, so this caller is a member, who lifts the stop.
    if (target.execution !== null) target.execution.stop = null;
    const signals: string[] = [];
    const ttl = grantedTtl(call.ttl);
    const value = String(result['leaseToken']);
    if (call.start && isStory(call.target) && isToStart(model, call.target))
      moveStory(model, call.target, 'in_progress', holder.person);
    if (!isOwn) {
      target.epoch += 1;
      for (const rival of rivals) {
        rival.lease = null;
        const pushedOut = openOf(rival);
        if (pushedOut !== null)
          Object.assign(pushedOut, { state: 'available', waitingFor: null, lock: null });
      }
    }
    const execution = open ?? begin(target, result);
    if (isNew && isStory(call.target)) model.landedWithGroup[call.target] = false;
    if (isOwn) {
      signals.push(...hear(execution, holder.person));
      renewLock(execution);
    } else {
      Object.assign(execution, {
        ...{ state: 'leased', attempt: execution.attempt + 1, epoch: target.epoch, outcome: null },
        ...{ offer: null, waitingFor: null, news: [] },
        lock: isAddressee && execution.lock !== null ? { holder, lapsed: false } : null,
      });
    }
    target.lease = { holder, token: value, expired: false, ttl };
    model.tokens.push({ value, target: call.target, person: holder.person, endedBy: null });
    return { ...shown(target, execution), resumed: !isNew, signals };
  });
}

/**
 * Returns the reasons for which a unit is refused if another caller holds it or is offered it. A lead who
 * asks for a take-over is not refused.
 */
const byForce = ({ takeOver, holder }: AcquireCall, otherwise: string): string[] =>
  takeOver ? (isLead(holder.person) ? [] : ['forbidden']) : [otherwise];

/** Returns true if an acquire with `start` moves the story to in_progress. */
const isToStart = ({ status, targets }: Model, story: StoryName): boolean =>
  ['backlog', 'ready'].includes(status[story]) ||
  (status[story] === 'in_review' && targets[story].execution?.needsRework === true);

function begin(target: Target, result: Record<string, unknown>): ModelExecution {
  if (target.execution !== null) target.earlier.push(target.execution);
  const { id } = result['execution'] as { id: string };
  target.execution = {
    ...{ id, state: 'available', attempt: 0, epoch: 0, checkpointSeq: 0 },
    ...{ offer: null, waitingFor: null, stop: null },
    ...{ hasBranch: false, pullRequest: null, checks: null, dedupeKeys: new Set() },
    ...{ areChangesRequested: false, needsRework: false },
    ...{ outcome: null, news: [], lock: null, lastEventSeq: 0 },
  };
  return target.execution;
}

/**
 * Returns the signals for the holder: other callers' actions since the last answer, and a stop in every
 * answer while it is in force.
 */
function hear(execution: ModelExecution, person: Name): string[] {
  const kinds = execution.news
    .filter(({ kind, by }) => (kind === 'stop_requested' ? execution.stop !== null : by !== person))
    .map(({ kind }) => kind);
  if (execution.stop !== null && !kinds.includes('stop_requested')) kinds.push('stop_requested');
  execution.news = [];
  return kinds.sort();
}

/** An execution, and the person who calls an operation on it. */
interface Held {
  readonly model: Model;
  readonly target: Target;
  readonly execution: ModelExecution;
  readonly person: Name;
}

/** Refuses calls of viewers and calls on unknown executions. For any other call `act` decides the verdict. */
function about(model: Model, person: Name, executionId: string, act: (held: Held) => Forecast): Forecast {
  if (isViewer(person)) return refused('forbidden');
  const found = ownerOf(model, executionId);
  return found === undefined ? refused('not_found') : act({ model, person, ...found });
}

export type HolderCall = Grant;

/**
 * Accepts a call only with the token of the newest grant, from its own holder. A caller that repeats the call
 * by which it ended the lease gets an equal answer.
 */
const asHolder = (
  model: Model,
  { executionId, leaseToken, person }: HolderCall,
  ending: ModelEnding | null,
  act: (held: Held) => Forecast,
): Forecast =>
  about(model, person, executionId, (held) => {
    const { target, execution } = held;
    const { lease } = target;
    const isNewest = target.execution === execution && execution.state !== 'completed';
    if (isNewest && lease?.token === leaseToken && lease.holder.person === person) return act(held);
    const stale = { kind: 'refused', reasons: ['stale_lease'], epoch: target.epoch } as const;
    if (ending === null) return stale;
    const known = model.tokens.find(({ value }) => value === leaseToken);
    if (known?.endedBy !== ending || known.target !== target.name) return stale;
    const isLast =
      target.ended?.token === leaseToken && known.person === person && target.execution === execution;
    return isLast
      ? done(() => shown(target, execution))
      : { kind: 'refused', reasons: ['stale_lease'], mayBeDone: true };
  });

/** Extends the execution's lock, which lasts as long as its lease. */
function renewLock({ lock }: ModelExecution): void {
  if (lock !== null) lock.lapsed = false;
}

/** Renews the lease and the lock, and returns the signals. Any operation of the holder does this. */
function goOn({ target, execution, person }: Held, ttl?: number): Expected {
  renewLock(execution);
  if (target.lease !== null)
    Object.assign(target.lease, { expired: false, ...(ttl !== undefined && { ttl }) });
  return { ...shown(target, execution), signals: hear(execution, person) };
}

function endLease({ model, target, execution }: Held, by: ModelEnding): Expected {
  const token = target.lease?.token ?? '';
  const known = model.tokens.find(({ value }) => value === token);
  if (known !== undefined) known.endedBy = by;
  target.ended = { token, by };
  target.lease = null;
  execution.waitingFor = null;
  return shown(target, execution);
}

export const renew = (model: Model, call: HolderCall, { ttl }: { ttl: number | undefined }): Forecast =>
  asHolder(model, call, null, (held) =>
    done(() => goOn(held, ttl === undefined ? undefined : grantedTtl(ttl))),
  );

export const checkpoint = (
  model: Model,
  call: HolderCall,
  { expectedSeq }: { expectedSeq: number | undefined },
): Forecast =>
  asHolder(model, call, null, (held) => {
    const { execution } = held;
    if (expectedSeq !== undefined && expectedSeq !== execution.checkpointSeq)
      return refused('version_mismatch');
    return done(() => {
      execution.checkpointSeq += 1;
      return { ...goOn(held), checkpointSeq: execution.checkpointSeq };
    });
  });

export interface ReportedProgress {
  readonly waitingFor: StoryName | null | undefined;
  readonly branch: boolean;
}

export const update = (model: Model, call: HolderCall, { waitingFor, branch }: ReportedProgress): Forecast =>
  asHolder(model, call, null, (held) => {
    const { execution, target } = held;
    if (waitingFor != null) {
      if (!storiesOf(target.name).includes(waitingFor)) return refused('not_found');
      if (!model.questionOpen[waitingFor]) return refused('invalid_transition');
    }
    return done(() => {
      if (branch) execution.hasBranch = true;
      if (waitingFor !== undefined) {
        execution.waitingFor = waitingFor;
        execution.state = waitingFor === null ? 'leased' : 'waiting_input';
      }
      return goOn(held);
    });
  });

export const handoff = (model: Model, call: HolderCall, { to }: { to: Name }): Forecast =>
  asHolder(model, call, `handoff to ${to}`, (held) => {
    const { execution } = held;
    const reasons = [...(isViewer(to) ? ['not_found'] : [])];
    if (execution.checkpointSeq === 0) reasons.push('checkpoint_required');
    if (reasons.length > 0) return refused(...reasons);
    return done(() => {
      Object.assign(execution, { state: 'offered', offer: { to, lapsed: false } });
      renewLock(execution);
      return endLease(held, `handoff to ${to}`);
    });
  });

/**
 * Returns true if a merge of the execution is known. A merge during a lease completes the execution when the
 * holder releases it.
 */
const isMerged = ({ pullRequest }: ModelExecution): boolean => pullRequest?.kind === 'pr_merged';

export const release = (model: Model, call: HolderCall): Forecast =>
  asHolder(model, call, 'release', (held) =>
    done(() => {
      if (isMerged(held.execution)) finish(held.execution, 'succeeded');
      else Object.assign(held.execution, { state: 'available', lock: null });
      return endLease(held, 'release');
    }),
  );

export const complete = (
  model: Model,
  call: HolderCall,
  { outcome, pullRequest }: { outcome: string; pullRequest: boolean },
): Forecast =>
  asHolder(model, call, `complete as ${outcome}`, (held) => {
    const { execution, target, person } = held;
    if (outcome === 'submitted' && !pullRequest && !execution.hasBranch) return refused('branch_required');
    if (outcome === 'succeeded') {
      if (isAgent(person) && !model.policy.agentsMayComplete) return refused('policy');
      if (model.policy.requireMergeProof && !isMerged(execution)) return refused('policy');
    }
    return done(() => {
      if (pullRequest) execution.hasBranch = true;
      const awaitsForge = outcome === 'submitted' && !isMerged(execution);
      if (awaitsForge) Object.assign(execution, { state: 'submitted', lock: null, outcome });
      else finish(execution, outcome === 'submitted' ? 'succeeded' : outcome);
      execution.needsRework = awaitsForge && execution.areChangesRequested;
      const isHandedIn = outcome === 'submitted' || outcome === 'succeeded';
      if (isHandedIn && isStory(target.name) && model.status[target.name] === 'in_progress')
        moveStory(model, target.name, 'in_review', person);
      return endLease(held, `complete as ${outcome}`);
    });
  });

export const requestStop = (model: Model, person: Name, executionId: string): Forecast =>
  about(model, person, executionId, ({ target, execution }) => {
    const isCompleted = execution.state === 'completed';
    const isLeft = isCompleted && (isOver(model, target.name) || execution.stop !== null);
    if (isCompleted && !isLeft && target.execution !== execution) return refused('invalid_transition');
    return done(() => {
      if (isLeft) return shown(target, execution);
      const asker = { person, run: null };
      if (isCompleted) execution.stop = asker;
      else if (target.lease !== null && !(target.lease.expired && isOver(model, target.name))) {
        execution.stop = target.lease.holder;
        execution.news.push({ kind: 'stop_requested', by: person });
      } else {
        finish(execution, 'canceled');
        execution.stop = asker;
        target.lease = null;
      }
      return shown(target, execution);
    });
  });

export const liftStop = (model: Model, person: Name, executionId: string): Forecast =>
  about(model, person, executionId, ({ target, execution }) => {
    if (isAgent(person)) return refused('forbidden');
    if (execution.state === 'completed' && target.execution !== execution)
      return refused('invalid_transition');
    return done(() => {
      execution.stop = null;
      return shown(target, execution);
    });
  });

export interface Fact {
  readonly kind: string;
  readonly at: number;
  readonly dedupeKey: string;
}

/**
 * Returns true if the policy allows the person to complete the story. The result depends on the kind of
 * person and on the forge's facts about the story's newest execution.
 */
export function mayBeDone(model: Model, story: StoryName, person: Name): boolean {
  const { agentsMayComplete, requireMergeProof } = model.policy;
  const { execution } = model.targets[story];
  const hasLanded = model.landedWithGroup[story] || (execution !== null && isMerged(execution));
  return (agentsMayComplete || !isAgent(person)) && (hasLanded || !requireMergeProof);
}

export const observe = (model: Model, person: Name, executionId: string, fact: Fact): Forecast =>
  about(model, person, executionId, ({ target, execution }) => {
    return done(() => {
      if (execution.dedupeKeys.has(fact.dedupeKey)) return { ...shown(target, execution), recorded: false };
      execution.dedupeKeys.add(fact.dedupeKey);
      if (fact.kind === 'changes_requested') execution.areChangesRequested = true;
      const { checks } = execution;
      if (fact.kind.startsWith('checks_') && (checks === null || fact.at > checks.at))
        execution.checks = fact;
      const known = execution.pullRequest;
      const wasMerged = isMerged(execution);
      const isMerge = fact.kind === 'pr_merged';
      // A merge that an agent reports counts only if agents may complete work.
      const lands = isMerge && (model.policy.agentsMayComplete || !isAgent(person));
      if (fact.kind.startsWith('pr_') && !wasMerged) {
        if (lands || (!isMerge && (known === null || fact.at > known.at))) execution.pullRequest = fact;
      }
      if (lands && !isStory(target.name)) {
        for (const story of storiesOf(target.name)) model.landedWithGroup[story] = true;
      }
      if (lands && !wasMerged && model.policy.completeStoryOnMerge) {
        for (const story of storiesOf(target.name)) {
          const isFinished = ['done', 'canceled'].includes(model.status[story]);
          if (!isFinished && mayBeDone(model, story, person)) moveStory(model, story, 'done', person);
        }
      }
      if (execution.state === 'completed') return { ...shown(target, execution), recorded: true };
      execution.news.push({ kind: 'forge', by: person });
      fold(execution, fact);
      return { ...shown(target, execution), recorded: true };
    });
  });

/**
 * Applies a fact to an execution that has no holder. If there is a holder, the execution stays unchanged and
 * the holder gets the fact as a signal.
 */
function fold(execution: ModelExecution, fact: Fact): void {
  const { state, pullRequest, checks, areChangesRequested } = execution;
  if (state === 'leased' || state === 'waiting_input') return;
  if (isMerged(execution)) {
    finish(execution, 'succeeded');
    return;
  }
  if (state === 'submitted' && pullRequest === fact && fact.kind === 'pr_closed') {
    Object.assign(execution, { state: 'available', needsRework: true });
    return;
  }
  if (state === 'offered') return;
  const isGivenBack = state === 'available' && pullRequest?.kind === 'pr_closed';
  execution.needsRework = areChangesRequested || checks?.kind === 'checks_failed' || isGivenBack;
}
