/** Limits the event streams of each member. A stream beyond the limit replaces the member's oldest one. */
import { type TokenIdentity } from '@muster/tenancy';
import { byMember, createShares, streamsAtOnce } from './shares.ts';

export interface StreamPlace {
  /** Aborts when a newer stream replaces this one. */
  readonly replaced: AbortSignal;
  readonly leave: () => void;
}

interface Open {
  readonly replaced: AbortController;
  readonly leave: () => void;
}

/** Creates the limiter. It throws 429 at the organization's limit, and 503 at the limit of the process. */
export function createNewestStreams(most = streamsAtOnce): (caller: TokenIdentity) => StreamPlace {
  const shares = createShares(most, 'stream', 'too_many_waiting', byMember);
  /** Open streams by member, oldest first. */
  const streams = new Map<string, Set<Open>>();
  return (caller) => {
    const { memberId } = caller;
    const own = streams.get(memberId) ?? new Set();
    const [oldest] = own;
    if (oldest !== undefined && own.size >= most.each) {
      oldest.leave();
      oldest.replaced.abort();
    }
    const giveBack = shares.enter(caller);
    const open: Open = {
      replaced: new AbortController(),
      leave: () => {
        giveBack();
        own.delete(open);
        if (own.size === 0 && streams.get(memberId) === own) streams.delete(memberId);
      },
    };
    own.add(open);
    streams.set(memberId, own);
    return { replaced: open.replaced.signal, leave: open.leave };
  };
}
