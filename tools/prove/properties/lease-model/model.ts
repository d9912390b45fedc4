/**
 * What a board of leases is, in the words of the contract and in the simplest way that can be thought of: one thing at
 * a time happens, and nothing is locked. It imports none of the product's rules: that both say the same is the proof.
 */
import { grouped, stories, type StoryName, type TargetName, targets } from '../../board.ts';
import { type Name } from '../../team.ts';

/** Member, agent and run; no run is a value of its own. */
export interface Holder {
  readonly person: Name;
  readonly run: string | null;
}
export const isSame = (a: Holder, b: Holder): boolean => a.person === b.person && a.run === b.run;

export type ExecutionState = 'available' | 'leased' | 'waiting_input' | 'offered' | 'submitted' | 'completed';

/** The calls that end a lease, whose winner may repeat them; with another outcome, or to another, it is another call. */
export type Ending = `handoff to ${Name}` | 'release' | `complete as ${string}`;

export interface Token {
  readonly value: string;
  readonly target: TargetName;
  readonly person: Name;
  endedBy: Ending | null;
}

export interface Execution {
  readonly id: string;
  state: ExecutionState;
  attempt: number;
  epoch: number;
  checkpointSeq: number;
  offer: { readonly to: Name; lapsed: boolean } | null;
  /** The story whose question is waited for. */
  waitingFor: StoryName | null;
  /** Who had it, or else who asked, when a stop came into force; null: none is. */
  stop: Holder | null;
  hasBranch: boolean;
  /** The newest of its pull request, by the time at which it was seen; a merge is for good. */
  pullRequest: { readonly kind: string; readonly at: number } | null;
  lastFactAt: number;
  readonly dedupeKeys: Set<string>;
  /** Null where the contract leaves it open. */
  needsRework: boolean | null;
  outcome: string | null;
  /** What its holder was not told yet, and who did it. */
  news: { readonly kind: string; readonly by: Name | 'time' }[];
  /** Who has the lock that was taken for the work. Lapsed, it is in nobody's way, and its work may go on with it. */
  lock: { readonly holder: Holder; lapsed: boolean } | null;
  lastEventSeq: number;
}

export interface Target {
  readonly name: TargetName;
  epoch: number;
  lease: { holder: Holder; token: string; expired: boolean; ttl: number } | null;
  /** What ended the newest grant that was ended. */
  ended: { readonly token: string; readonly by: Ending } | null;
  /** The newest. */
  execution: Execution | null;
  readonly earlier: Execution[];
}

export interface Policy {
  readonly agentsMayComplete: boolean;
  readonly requireMergeProof: boolean;
  readonly completeStoryOnMerge: boolean;
}

export interface Model {
  readonly policy: Policy;
  readonly targets: Record<TargetName, Target>;
  readonly status: Record<StoryName, string>;
  readonly questionOpen: Record<StoryName, boolean>;
  /** A merge of its group's work was seen, since which nobody began to work on the story itself. */
  readonly landedWithGroup: Record<StoryName, boolean>;
  readonly tokens: Token[];
}

const newTarget = (name: TargetName): Target => ({
  ...{ name, epoch: 0, lease: null, ended: null, execution: null, earlier: [] },
});

export const newModel = (policy: Policy): Model => ({
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

/** The stories that work on a target is about. */
export const storiesOf = (name: TargetName): readonly StoryName[] => (isStory(name) ? [name] : grouped);

/** The targets whose work excludes work on this one: a story's group, a group's stories. */
export function rivalsOf(name: TargetName): readonly TargetName[] {
  if (name === 'group') return grouped;
  return grouped.includes(name) ? ['group'] : [];
}

export const isOver = (model: Model, name: TargetName): boolean =>
  isStory(name) && ['done', 'canceled'].includes(model.status[name]);

/** What is not completed. */
export function openOf(target: Target): Execution | null {
  return target.execution === null || target.execution.state === 'completed' ? null : target.execution;
}

/** Whose execution it is. */
export function ownerOf(
  model: Model,
  executionId: string,
): { target: Target; execution: Execution } | undefined {
  for (const name of targets) {
    const target = model.targets[name];
    const found = [target.execution, ...target.earlier].find((execution) => execution?.id === executionId);
    if (found != null) return { target, execution: found };
  }
  return undefined;
}

/** The state that a reader sees. */
export function shownState({ lease }: Target, { state, offer }: Execution): string {
  if ((state === 'leased' || state === 'waiting_input') && lease?.expired === true) return 'stalled';
  return state === 'offered' && offer?.lapsed === true ? 'available' : state;
}

/** Something about a story that concerns whoever works on it or on its group. */
export function tell(model: Model, story: StoryName, kind: string, by: Name): void {
  for (const name of [story, ...rivalsOf(story)]) openOf(model.targets[name])?.news.push({ kind, by });
}

/** The holder's work ends for good. */
export function finish(execution: Execution, outcome: string): void {
  Object.assign(execution, {
    ...{ state: 'completed', outcome, offer: null, waitingFor: null, lock: null },
    // Nobody has to take up again what is over.
    needsRework: false,
  });
}

/** A story goes to another status; a canceled one takes its execution with it. */
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

/** All that can be seen of the board, in the shape in which Postgres is asked for it. */
export function viewOf(model: Model): Record<string, unknown> {
  const view: Record<string, unknown> = {};
  for (const name of stories) view[`${name} status`] = model.status[name];
  for (const name of targets) {
    const target = model.targets[name];
    const { lease, epoch, execution } = target;
    // A lease's row comes to be with whatever needs it; without a grant it says nothing.
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
      // Of work that is held it never ends before the lease.
      lockIsShort: false,
      gaps: 0,
    };
  }
  return view;
}

/** The state that a reader sees of each execution there is. */
export const statesOf = ({ targets: all }: Model): ReadonlyMap<string, string> =>
  new Map(
    Object.values(all).flatMap((target) =>
      target.execution === null ? [] : [[target.execution.id, shownState(target, target.execution)]],
    ),
  );
