/** Limits the event streams of each member. A stream beyond the limit replaces the member's oldest one. */
import { type TokenIdentity } from '@muster/tenancy';
import { ownerByMember, createWaitingCallLimiter, eventStreamLimits } from './shares.ts';

export interface StreamSlot {
  /** Aborts when a newer stream replaces this one. */
  readonly replaced: AbortSignal;
  readonly release: () => void;
}

interface OpenStream {
  readonly replaced: AbortController;
  readonly removeStream: () => void;
}

/** Creates the limiter. It throws 429 at the organization's limit, and 503 at the limit of the process. */
export function createStreamLimiter(limits = eventStreamLimits): (caller: TokenIdentity) => StreamSlot {
  const shares = createWaitingCallLimiter(limits, 'stream', 'too_many_waiting', ownerByMember);
  /** Open streams by member, oldest first. */
  const streams = new Map<string, Set<OpenStream>>();
  return (caller) => {
    const { memberId } = caller;
    const own = streams.get(memberId) ?? new Set();
    const [oldest] = own;
    if (oldest !== undefined && own.size >= limits.maxPerOwner) {
      oldest.removeStream();
      oldest.replaced.abort();
    }
    const giveBack = shares.enter(caller);
    const open: OpenStream = {
      replaced: new AbortController(),
      removeStream: () => {
        giveBack();
        own.delete(open);
        if (own.size === 0 && streams.get(memberId) === own) streams.delete(memberId);
      },
    };
    own.add(open);
    streams.set(memberId, own);
    return { replaced: open.replaced.signal, release: open.removeStream };
  };
}
