/**
 * Whether stories may join a group: work on a group and on its stories excludes each other, so two leases of different
 * holders cannot come together. One past its time has to end for it, since its holder could renew it otherwise.
 */
import { type HeldLease, isSameHolder } from './acquire.ts';

export type JoinDecision =
  | { readonly kind: 'refuse'; readonly by: HeldLease }
  | {
      readonly kind: 'join';
      /** Expired leases that end on the way. */
      readonly freed: readonly HeldLease[];
    };

export function decideJoining(facts: {
  /** By the database's clock, read when all leases were locked. */
  readonly now: string;
  /** On the work of the group; null where it has no holder. */
  readonly group: HeldLease | null;
  /** On the stories that would join. */
  readonly stories: readonly HeldLease[];
}): JoinDecision {
  const { now, group, stories } = facts;
  if (group === null) return { kind: 'join', freed: [] };
  const isLive = (lease: HeldLease): boolean => lease.expiresAt > now;
  const rivals = stories.filter(({ holder }) => !isSameHolder(holder, group.holder));
  const [live] = rivals.filter(isLive);
  if (live === undefined) return { kind: 'join', freed: rivals };
  return isLive(group) ? { kind: 'refuse', by: live } : { kind: 'join', freed: [group] };
}
