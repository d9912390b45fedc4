/**
 * A model of a board with leases, written from the contract alone and as simply as possible: it has no
 * concurrency and no locks. It imports none of the product's rules, because the proof is that both agree.
 */
import { grouped, stories, type StoryName, type TargetName, targets } from '../../board.ts';
import { type Name } from '../../team.ts';

/** A member or an agent, with a run. Null, for no run, is a value of its own. */
export interface ModelHolder {
  readonly person: Name;
  readonly run: string | null;
}
export const isSame = (a: ModelHolder, b: ModelHolder): boolean => a.person === b.person && a.run === b.run;

export type ModelState = 'available' | 'leased' | 'waiting_input' | 'offered' | 'submitted' | 'completed';

/**
 * The calls that end a lease. Only the caller that ended the lease may repeat the call. A call with another
 * outcome or recipient is a different call.
 */
export type ModelEnding = `handoff to ${Name}` | 'release' | `complete as ${string}`;

export interface Token {
  readonly value: string;
  readonly target: TargetName;
  readonly person: Name;
  endedBy: ModelEnding | null;
}

export interface ModelExecution {
  readonly id: string;
  state: ModelState;
  attempt: number;
  epoch: number;
  checkpointSeq: number;
  offer: { readonly to: Name; lapsed: boolean } | null;
  /** The story whose question the execution waits for. */
  waitingFor: StoryName | null;
  /**
   * The holder at the time when a requested stop came into force. Without a holder, the caller who requested
   * the stop. Null if there is no stop.
   */
  stop: ModelHolder | null;
  hasBranch: boolean;
  /** The newest fact about the pull request, by its time. A merge is final. */
  pullRequest: { readonly kind: string; readonly at: number } | null;
  /** The newest fact about the checks, by its time. */
  checks: { readonly kind: string; readonly at: number } | null;
  readonly dedupeKeys: Set<string>;
  /** True if a reviewer at the forge requested changes. No fact of this model takes that back. */
  areChangesRequested: boolean;
  needsRework: boolean;
  outcome: string | null;
  /** The signals that the holder has not received yet, each with its cause. */
  news: { readonly kind: string; readonly by: Name | 'time' }[];
  /** The holder of the execution's lock. A lapsed lock blocks no caller, and the execution may renew it. */
  lock: { readonly holder: ModelHolder; lapsed: boolean } | null;
  lastEventSeq: number;
}

export interface Target {
  readonly name: TargetName;
  epoch: number;
  lease: { holder: ModelHolder; token: string; expired: boolean; ttl: number } | null;
  /** The call that ended the newest of the ended grants. */
  ended: { readonly token: string; readonly by: ModelEnding } | null;
  /** The newest execution. */
  execution: ModelExecution | null;
  readonly earlier: ModelExecution[];
}

export interface ModelPolicy {
  readonly agentsMayComplete: boolean;
  readonly requireMergeProof: boolean;
  readonly completeStoryOnMerge: boolean;
}

export interface Model {
  readonly policy: ModelPolicy;
  readonly targets: Record<TargetName, Target>;
  readonly status: Record<StoryName, string>;
  readonly questionOpen: Record<StoryName, boolean>;
  /** Is true after a merge of the group's execution, until an execution on the story itself begins. */
  readonly landedWithGroup: Record<StoryName, boolean>;
  readonly tokens: Token[];
}

const newTarget = (name: TargetName): Target => ({
  ...{ name, epoch: 0, lease: null, ended: null, execution: null, earlier: [] },
});

export const newModel = (policy: ModelPolicy): Model => ({
  policy,
  targets: {
    s1: newTarget('s1'),
    s2: newTarget('s2'),
    s3: newTarget('s3'),
    group: newTarget('group'),
  },
  status: { s1: 'in_progress', s2: 'in_progress', s3: 'in_progress' },
  questionOpen: { s1: true, s2: true, s3: true },
  landedWithGroup: { s1: false, s2: false, s3: false },
  tokens: [],
});

export const isStory = (name: TargetName): name is StoryName => name !== 'group';

/** Returns the stories that an execution on the target works on. */
export const storiesOf = (name: TargetName): readonly StoryName[] => (isStory(name) ? [name] : grouped);

/**
 * Returns the targets whose leases exclude a lease on the given target: the group of a story, or the stories
 * of a group.
 */
export function rivalsOf(name: TargetName): readonly TargetName[] {
  if (name === 'group') return grouped;
  return grouped.includes(name) ? ['group'] : [];
}

export const isOver = (model: Model, name: TargetName): boolean =>
  isStory(name) && ['done', 'canceled'].includes(model.status[name]);

/** Returns the newest execution unless it is completed. */
export function openOf(target: Target): ModelExecution | null {
  return target.execution === null || target.execution.state === 'completed' ? null : target.execution;
}

/** Returns the target that the execution belongs to. */
export function ownerOf(
  model: Model,
  executionId: string,
): { target: Target; execution: ModelExecution } | undefined {
  for (const name of targets) {
    const target = model.targets[name];
    const found = [target.execution, ...target.earlier].find((execution) => execution?.id === executionId);
    if (found != null) return { target, execution: found };
  }
  return undefined;
}

/** Returns the state as readers see it. */
export function shownState({ lease }: Target, { state, offer }: ModelExecution): string {
  if ((state === 'leased' || state === 'waiting_input') && lease?.expired === true) return 'stalled';
  return state === 'offered' && offer?.lapsed === true ? 'available' : state;
}

/** Sends a signal about a story to the open executions on it and on its group. */
export function tell(model: Model, story: StoryName, kind: string, by: Name): void {
  for (const name of [story, ...rivalsOf(story)]) openOf(model.targets[name])?.news.push({ kind, by });
}

/** Completes an execution. */
export function finish(execution: ModelExecution, outcome: string): void {
  Object.assign(execution, {
    ...{ state: 'completed', outcome, offer: null, waitingFor: null, lock: null },
    // A completed execution needs no rework.
    needsRework: false,
  });
}

/** Moves a story to another status. A canceled story also ends its execution. */
export function moveStory(model: Model, story: StoryName, to: string, by: Name): void {
  if (model.status[story] === to) return;
  model.status[story] = to;
  tell(model, story, 'story_changed', by);
  if (to !== 'canceled') return;
  const target = model.targets[story];
  const execution = openOf(target);
  if (execution !== null) finish(execution, 'canceled');
  target.lease = null;
}

/** Returns the visible state of the board, in the form in which the query on Postgres returns it. */
export function viewOf(model: Model): Record<string, unknown> {
  const view: Record<string, unknown> = {};
  for (const name of stories) view[`${name} status`] = model.status[name];
  for (const name of targets) {
    const target = model.targets[name];
    const { lease, epoch, execution } = target;
    // Several operations create a lease's row. Without a grant its epoch is 0, so the view does not show that
    // it exists.
    view[`${name} epoch`] = epoch;
    view[`${name} holder`] =
      lease === null ? null : `${lease.holder.person}/${lease.holder.run ?? ''} for ${lease.ttl} s`;
    view[`${name} expired`] = lease?.expired ?? null;
    if (execution === null) {
      view[name] = null;
      continue;
    }
    view[name] = {
      id: execution.id,
      state: shownState(target, execution),
      attempt: execution.attempt,
      epoch: execution.epoch,
      checkpointSeq: execution.checkpointSeq,
      offeredTo: execution.state === 'offered' ? (execution.offer?.to ?? null) : null,
      waitingFor: execution.waitingFor,
      stopped: execution.stop !== null,
      outcome: execution.state === 'completed' ? execution.outcome : null,
      needsRework: execution.needsRework,
      lock: execution.lock?.holder.person ?? null,
      lockLapsed: execution.lock?.lapsed ?? null,
      // While the lease is held, the execution's lock never ends before the lease.
      lockIsShort: false,
      gaps: 0,
    };
  }
  return view;
}

/** Returns the visible state of each target's newest execution, by the execution's id. */
export const statesOf = ({ targets: all }: Model): ReadonlyMap<string, string> =>
  new Map(
    Object.values(all).flatMap((target) =>
      target.execution === null ? [] : [[target.execution.id, shownState(target, target.execution)]],
    ),
  );
