/**
 * The state machine of an execution. This one table defines it: `step` applies a transition to one execution,
 * and `applyTransitionToManySql` builds SQL that applies it to many. The diagram in the docs and the lease model in the proofs
 * read the same table. The state `none` means that no holder has worked on the target yet. The state
 * `stalled` is derived and never stored: leased or waiting with an expired lease.
 */
import { type ExecutionState, type Outcome, type Signal } from '@muster/contract';

export type StoredState = Exclude<ExecutionState, 'stalled'>;
type StateOrNone = ExecutionState | 'none';

/** The kinds of events in an execution's stream. */
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

/** The empty values of columns that transitions clear. */
export const clearedValues = {
  offer: null,
  waiting_for: null,
  stop_requested: null,
  outcome: null,
  failure: null,
  needs_rework: false,
  rework: null,
} as const;
type ClearableColumn = keyof typeof clearedValues;

interface Transition {
  readonly from: readonly StateOrNone[];
  /** The state after the transition; null keeps the current state. */
  readonly to: ExecutionState | null;
  /** The event appended to the stream; null for none. */
  readonly event: ExecutionEventKind | null;
  readonly clears: readonly ClearableColumn[];
  /** The outcome, if the transition alone determines it. */
  readonly outcome?: Outcome;
  /**
   * A transition of the holder that restarts the lease's time. A stalled execution returns to its stored
   * state.
   */
  readonly renewsLease?: true;
  /** No holder is left after the transition. */
  readonly endsLease: boolean;
  /**
   * The effect on the locks taken for the work: they stay, pass to the new holder, or are freed.
   * `freeWithRun` also frees the locks that the holder's run took without naming any work.
   */
  readonly locks: 'stay' | 'pass' | 'free' | 'freeWithRun';
}

const heldStates = ['leased', 'waiting_input', 'stalled'] as const;
const unheldStates = ['available', 'offered', 'submitted'] as const;
const openStates = [...heldStates, ...unheldStates] as const;

const keepStateAndLease = { to: null, clears: [], endsLease: false, locks: 'stay' } as const;
const renewLeaseOnly = { ...keepStateAndLease, renewsLease: true } as const;
/** A new grant. Only a member in person can get one despite a stop, and the grant lifts the stop. */
const grantTransition = {
  to: 'leased',
  event: 'acquired',
  clears: ['offer', 'waiting_for', 'stop_requested', 'outcome', 'failure'],
  endsLease: false,
} as const;
const giveUpTransition = { event: 'released', endsLease: true, locks: 'free' } as const;
/**
 * The end of the work. It clears an open question, an open offer and pending rework. A stop stays in force.
 */
const completeTransition = {
  to: 'completed',
  event: 'completed',
  clears: ['offer', 'waiting_for', 'failure', 'needs_rework', 'rework'],
} as const;

const transitionTable = {
  begin: { ...grantTransition, from: ['none'], locks: 'stay' },
  /** Only a takeover can replace another holder's live lease. */
  acquire: { ...grantTransition, from: openStates, locks: 'free' },
  /** The addressee accepts the offer. */
  accept: { ...grantTransition, from: ['offered'], locks: 'pass' },
  renew: { ...renewLeaseOnly, from: heldStates, event: null },
  checkpoint: { ...renewLeaseOnly, from: heldStates, event: 'checkpointed' },
  update: { ...renewLeaseOnly, from: heldStates, event: 'updated' },
  /** The holder waits for the answer to an open question. Its other operations keep it waiting. */
  wait: { ...renewLeaseOnly, from: heldStates, to: 'waiting_input', event: 'updated' },
  /**
   * The holding agent asked a question on the story. A comment is not an operation of the lease, so it does
   * not renew the lease.
   */
  ask: { ...keepStateAndLease, from: ['leased', 'waiting_input'], to: 'waiting_input', event: 'updated' },
  waitNoMore: {
    ...renewLeaseOnly,
    from: heldStates,
    to: 'leased',
    event: 'updated',
    clears: ['waiting_for'],
  },
  /** The question was resolved or deleted. */
  hearAnswer: {
    ...keepStateAndLease,
    from: ['waiting_input'],
    to: 'leased',
    event: 'question_answered',
    clears: ['waiting_for'],
  },
  /** The question was resolved or deleted, and the holding agent has another open question. */
  hearFirstAnswer: {
    ...keepStateAndLease,
    from: ['waiting_input'],
    to: 'waiting_input',
    event: 'question_answered',
  },
  expire: { ...keepStateAndLease, from: ['leased', 'waiting_input'], to: 'stalled', event: 'expired' },
  /** An expired lease ends because it conflicts with a grant on another story or group. */
  supersede: {
    ...giveUpTransition,
    from: ['stalled'],
    to: 'available',
    event: 'superseded',
    clears: ['waiting_for'],
  },
  handOff: {
    from: heldStates,
    to: 'offered',
    event: 'offered',
    clears: ['waiting_for'],
    endsLease: true,
    locks: 'stay',
  },
  letOfferLapse: { ...keepStateAndLease, from: ['offered'], to: 'available', event: null },
  /** The member or agent to whom the work was offered was removed. */
  withdrawOffer: {
    ...giveUpTransition,
    from: ['offered'],
    to: 'available',
    clears: ['offer'],
    endsLease: false,
  },
  release: { ...giveUpTransition, from: heldStates, to: 'available', clears: ['waiting_for'] },
  submit: {
    from: heldStates,
    to: 'submitted',
    event: 'submitted',
    clears: ['waiting_for', 'needs_rework', 'rework'],
    outcome: 'submitted',
    endsLease: true,
    locks: 'freeWithRun',
  },
  finish: { ...completeTransition, from: heldStates, endsLease: true, locks: 'freeWithRun' },
  /** A fact of the forge that changes no state. */
  observe: { ...keepStateAndLease, from: [...openStates, 'completed'], event: 'forge' },
  /**
   * A merge was observed for work that has no holder. On held work a merge is only a signal, and the holder
   * completes the work.
   */
  observeMerge: {
    ...completeTransition,
    from: unheldStates,
    outcome: 'succeeded',
    endsLease: false,
    locks: 'free',
  },
  /** A pull request was closed unmerged, which returns the work submitted with it. */
  sendBack: { ...keepStateAndLease, from: ['submitted'], to: 'available', event: 'forge' },
  requestStop: { ...keepStateAndLease, from: [...heldStates, 'completed'], event: 'stop_requested' },
  liftStop: {
    ...keepStateAndLease,
    from: [...openStates, 'completed'],
    event: 'stop_lifted',
    clears: ['stop_requested'],
  },
  /**
   * A member stopped work that has no holder, or the story was canceled, the group abandoned or the project
   * deleted.
   */
  cancel: { ...completeTransition, from: openStates, outcome: 'canceled', endsLease: true, locks: 'free' },
  /** The work completes with its group, or with its story in a project whose merges no forge reports. */
  land: { ...completeTransition, from: openStates, outcome: 'succeeded', endsLease: true, locks: 'free' },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof transitionTable;
export const transitions: Readonly<Record<TransitionName, Transition>> = transitionTable;

/**
 * All transitions from one state to another, as readers see them. Renewed work that was stalled returns to
 * its stored state.
 */
export const visibleTransitions: readonly {
  readonly from: StateOrNone;
  readonly to: StateOrNone;
  readonly transition: TransitionName;
}[] = (Object.keys(transitionTable) as TransitionName[]).flatMap((transition) => {
  const { from, to, renewsLease: renews } = transitions[transition];
  const goesTo = (state: StateOrNone): readonly StateOrNone[] => {
    if (to !== null) return [to];
    return renews && state === 'stalled' ? transitions.expire.from : [];
  };
  return from.flatMap((state) => goesTo(state).map((next) => ({ from: state, to: next, transition })));
});

/** Returns the source states of a transition as they are stored. */
export const storedSourceStates = (transition: TransitionName): readonly StateOrNone[] => [
  ...new Set(
    transitions[transition].from.flatMap((state) =>
      state === 'stalled' ? transitions.expire.from : [state],
    ),
  ),
];

/** Reports whether the transition is possible from this stored state. */
export const canTransition = (transition: TransitionName, stored: StoredState | 'none'): boolean =>
  storedSourceStates(transition).includes(stored);

export const isHeldState = (state: StoredState): boolean => canTransition('renew', state);

/** Returns the states that readers may see for this stored state. */
export const visibleStatesOf = (stored: StoredState): readonly ExecutionState[] => [
  stored,
  ...(['expire', 'letOfferLapse'] as const).flatMap((transition) =>
    canTransition(transition, stored) ? (transitions[transition].to ?? []) : [],
  ),
];

/**
 * Returns the state that a reader sees now. It differs from the stored state once the lease or the offer has
 * expired.
 */
export function visibleState(
  stored: StoredState,
  times: {
    readonly now: string;
    readonly leaseExpiresAt: string | null;
    readonly offerExpiresAt: string | null;
  },
): ExecutionState {
  const isPast = (time: string | null): boolean => time !== null && time <= times.now;
  const seen = (transition: TransitionName, time: string | null): boolean =>
    canTransition(transition, stored) && isPast(time);
  if (seen('expire', times.leaseExpiresAt)) return transitions.expire.to ?? stored;
  if (seen('letOfferLapse', times.offerExpiresAt)) return transitions.letOfferLapse.to ?? stored;
  return stored;
}
