/**
 * The life of an execution: the one table that the operations run on and that the docs' diagram is drawn from. `none`
 * is a target on which nobody worked yet. `stalled` is seen, never stored: leased or waiting past the lease's time.
 */
import { type ExecutionState } from '@muster/registry';

export type StateOrNone = ExecutionState | 'none';

export const deeds = [
  'acquire',
  'work',
  'wait',
  'expire',
  'handOff',
  'letOfferLapse',
  'release',
  'submit',
  'finish',
  'observeMerge',
  'cancel',
] as const;
export type Deed = (typeof deeds)[number];

const held = ['leased', 'waiting_input', 'stalled'] as const;
const open = ['available', 'leased', 'waiting_input', 'stalled', 'offered', 'submitted'] as const;

/** What each deed leads to, and from where it can be done. */
export const transitions: Readonly<
  Record<Deed, { readonly from: readonly StateOrNone[]; readonly to: ExecutionState }>
> = {
  /** Somebody entitled takes the lease. A lease that is live is another's only by take-over; an offer is its addressee's. */
  acquire: { from: ['none', ...open], to: 'leased' },
  /** Renew, checkpoint, update: the holder is at it. Clearing what it waited for, or the answer, is this too. */
  work: { from: held, to: 'leased' },
  /** The holder waits for the answer to an open question; any other operation of the holder leaves it waiting. */
  wait: { from: held, to: 'waiting_input' },
  expire: { from: ['leased', 'waiting_input'], to: 'stalled' },
  handOff: { from: held, to: 'offered' },
  letOfferLapse: { from: ['offered'], to: 'available' },
  release: { from: held, to: 'available' },
  submit: { from: held, to: 'submitted' },
  finish: { from: held, to: 'completed' },
  /** On a held one a merge is a signal, and its holder completes. */
  observeMerge: { from: ['submitted', 'available', 'offered'], to: 'completed' },
  /** By hand: a stop of what nobody holds, or the story canceled or deleted. */
  cancel: { from: open, to: 'completed' },
};

export const can = (deed: Deed, from: StateOrNone): boolean => transitions[deed].from.includes(from);

/** The state that a reader sees: time may have passed since it was written. */
export function shownState(
  stored: Exclude<ExecutionState, 'stalled'>,
  times: {
    readonly now: string;
    readonly leaseExpiresAt: string | null;
    readonly offerExpiresAt: string | null;
  },
): ExecutionState {
  const isPast = (time: string | null): boolean => time !== null && time <= times.now;
  if ((stored === 'leased' || stored === 'waiting_input') && isPast(times.leaseExpiresAt)) return 'stalled';
  if (stored === 'offered' && isPast(times.offerExpiresAt)) return 'available';
  return stored;
}
