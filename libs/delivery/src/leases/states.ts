/**
 * The life of an execution: the one table that decides it. `step` takes its rows to what is written of one execution,
 * `stepAll` to SQL for many at once, the docs' diagram draws them, and the lease model of the proof walks along them.
 * `none` is a target on which no holder worked yet. `stalled` is seen, never stored: leased or waiting past the lease's time.
 */
import { type ExecutionState, type Outcome, type Signal } from '@muster/registry';

export type StoredState = Exclude<ExecutionState, 'stalled'>;
type StateOrNone = ExecutionState | 'none';

/** What the stream of an execution can say. */
export type ExecutionEventKind =
  | Signal['kind']
  | 'acquired'
  | 'taken_over'
  | 'superseded'
  | 'checkpointed'
  | 'updated'
  | 'expired'
  | 'stop_lifted'
  | 'offered'
  | 'released'
  | 'submitted'
  | 'completed';

/** What columns hold that say nothing. */
export const empty = {
  offer: null,
  waiting_for: null,
  stop_requested: null,
  outcome: null,
  failure: null,
  needs_rework: false,
  rework: null,
} as const;
type Clearable = keyof typeof empty;

interface Transition {
  readonly from: readonly StateOrNone[];
  /** null: it stays as it is. */
  readonly to: ExecutionState | null;
  /** What the stream says of it; null: nothing. */
  readonly event: ExecutionEventKind | null;
  readonly clears: readonly Clearable[];
  /** Where the transition alone says it. */
  readonly outcome?: Outcome;
  /** The holder's own, by which the lease's time begins anew: what was stalled is no more. */
  readonly renews?: true;
  /** The work is not held afterwards. */
  readonly endsLease: boolean;
  /**
   * The locks that were taken for the work: they stay, pass to the new holder, or are freed, alone or with what the
   * holder's run locked for no work in particular.
   */
  readonly locks: 'stay' | 'pass' | 'free' | 'freeWithRun';
}

const held = ['leased', 'waiting_input', 'stalled'] as const;
const unheld = ['available', 'offered', 'submitted'] as const;
const open = [...held, ...unheld] as const;

const remark = { to: null, clears: [], endsLease: false, locks: 'stay' } as const;
const renewal = { ...remark, renews: true } as const;
/** A grant under a stop is a member's own, which lifts it. */
const granted = {
  to: 'leased',
  event: 'acquired',
  clears: ['offer', 'waiting_for', 'stop_requested', 'outcome', 'failure'],
  endsLease: false,
} as const;
const givenUp = { event: 'released', endsLease: true, locks: 'free' } as const;
/** Nothing is left to do: no question or offer is open, and no holder has to take it up again. A stop stays in force. */
const over = {
  to: 'completed',
  event: 'completed',
  clears: ['offer', 'waiting_for', 'failure', 'needs_rework', 'rework'],
} as const;

const table = {
  begin: { ...granted, from: ['none'], locks: 'stay' },
  /** A live lease is another's only by take-over. */
  acquire: { ...granted, from: open, locks: 'free' },
  /** By whom it was offered to. */
  accept: { ...granted, from: ['offered'], locks: 'pass' },
  renew: { ...renewal, from: held, event: null },
  checkpoint: { ...renewal, from: held, event: 'checkpointed' },
  update: { ...renewal, from: held, event: 'updated' },
  /** For the answer to an open question; any other operation of the holder leaves it waiting. */
  wait: { ...renewal, from: held, to: 'waiting_input', event: 'updated' },
  /** The holding agent asked a question on the story; its comment is no operation of the lease, and renews nothing. */
  ask: { ...remark, from: ['leased', 'waiting_input'], to: 'waiting_input', event: 'updated' },
  waitNoMore: { ...renewal, from: held, to: 'leased', event: 'updated', clears: ['waiting_for'] },
  /** The question is resolved or deleted. */
  hearAnswer: {
    ...remark,
    from: ['waiting_input'],
    to: 'leased',
    event: 'question_answered',
    clears: ['waiting_for'],
  },
  /** The question is resolved or deleted, and the holding agent has another open one. */
  hearFirstAnswer: {
    ...remark,
    from: ['waiting_input'],
    to: 'waiting_input',
    event: 'question_answered',
  },
  expire: { ...remark, from: ['leased', 'waiting_input'], to: 'stalled', event: 'expired' },
  /** An expired lease is in the way of another unit's holder. */
  supersede: { ...givenUp, from: ['stalled'], to: 'available', event: 'superseded', clears: ['waiting_for'] },
  handOff: {
    from: held,
    to: 'offered',
    event: 'offered',
    clears: ['waiting_for'],
    endsLease: true,
    locks: 'stay',
  },
  letOfferLapse: { ...remark, from: ['offered'], to: 'available', event: null },
  /** The addressee was removed. */
  withdrawOffer: { ...givenUp, from: ['offered'], to: 'available', clears: ['offer'], endsLease: false },
  release: { ...givenUp, from: held, to: 'available', clears: ['waiting_for'] },
  submit: {
    from: held,
    to: 'submitted',
    event: 'submitted',
    clears: ['waiting_for', 'needs_rework', 'rework'],
    outcome: 'submitted',
    endsLease: true,
    locks: 'freeWithRun',
  },
  finish: { ...over, from: held, endsLease: true, locks: 'freeWithRun' },
  /** A fact of the forge that changes no state. */
  observe: { ...remark, from: [...open, 'completed'], event: 'forge' },
  /** On a held one a merge is a signal, and its holder completes. */
  observeMerge: { ...over, from: unheld, outcome: 'succeeded', endsLease: false, locks: 'free' },
  /** A pull request that is closed unmerged sends back what was handed in with it. */
  sendBack: { ...remark, from: ['submitted'], to: 'available', event: 'forge' },
  requestStop: { ...remark, from: [...held, 'completed'], event: 'stop_requested' },
  liftStop: { ...remark, from: [...open, 'completed'], event: 'stop_lifted', clears: ['stop_requested'] },
  /** A stop of what has no holder, or the story canceled, the group abandoned, the project deleted. */
  cancel: { ...over, from: open, outcome: 'canceled', endsLease: true, locks: 'free' },
  /** With its group, or with its story where no forge tells of a merge. */
  land: { ...over, from: open, outcome: 'succeeded', endsLease: true, locks: 'free' },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof table;
export const transitions: Readonly<Record<TransitionName, Transition>> = table;

/** Every way from one state to another, as readers see them. What is renewed and was stalled is again what it was. */
export const arrows: readonly {
  readonly from: StateOrNone;
  readonly to: StateOrNone;
  readonly transition: TransitionName;
}[] = (Object.keys(table) as TransitionName[]).flatMap((transition) => {
  const { from, to, renews } = transitions[transition];
  const goesTo = (state: StateOrNone): readonly StateOrNone[] => {
    if (to !== null) return [to];
    return renews && state === 'stalled' ? transitions.expire.from : [];
  };
  return from.flatMap((state) => goesTo(state).map((next) => ({ from: state, to: next, transition })));
});

/** The states as they are stored. */
export const storedFrom = (transition: TransitionName): readonly StateOrNone[] => [
  ...new Set(
    transitions[transition].from.flatMap((state) =>
      state === 'stalled' ? transitions.expire.from : [state],
    ),
  ),
];

/** Whether it can be done to what is stored in this state. */
export const can = (transition: TransitionName, stored: StoredState | 'none'): boolean =>
  storedFrom(transition).includes(stored);

export const isHeldState = (state: StoredState): boolean => can('renew', state);

/** The states that readers may see of what is stored in this one. */
export const shownOf = (stored: StoredState): readonly ExecutionState[] => [
  stored,
  ...(['expire', 'letOfferLapse'] as const).flatMap((transition) =>
    can(transition, stored) ? (transitions[transition].to ?? []) : [],
  ),
];

/** The state that a reader sees: time may have passed since it was written. */
export function shownState(
  stored: StoredState,
  times: {
    readonly now: string;
    readonly leaseExpiresAt: string | null;
    readonly offerExpiresAt: string | null;
  },
): ExecutionState {
  const isPast = (time: string | null): boolean => time !== null && time <= times.now;
  const seen = (transition: TransitionName, time: string | null): boolean =>
    can(transition, stored) && isPast(time);
  if (seen('expire', times.leaseExpiresAt)) return transitions.expire.to ?? stored;
  if (seen('letOfferLapse', times.offerExpiresAt)) return transitions.letOfferLapse.to ?? stored;
  return stored;
}
