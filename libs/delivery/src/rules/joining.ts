/**
 * Decides if stories may join a group. Work on a group and work on its stories exclude each other, so two
 * holders can never have both. Expired leases on these stories end when the stories join, because their
 * holders could still renew them.
 */
import { type LeaseWithHolder, isSameHolder } from './acquire.ts';

export type JoinDecision =
  | { readonly kind: 'refuse'; readonly by: LeaseWithHolder }
  | {
      readonly kind: 'join';
      /** Expired leases that end when the stories join. */
      readonly freed: readonly LeaseWithHolder[];
    };

export function decideJoiningGroup(facts: {
  /** The database's time after all leases were locked. */
  readonly now: string;
  /** The lease on the group's work; null without a holder. */
  readonly group: LeaseWithHolder | null;
  /** The leases on the stories that would join. */
  readonly storyLeases: readonly LeaseWithHolder[];
}): JoinDecision {
  const { now, group, storyLeases: stories } = facts;
  if (group === null) return { kind: 'join', freed: [] };
  const isLive = (lease: LeaseWithHolder): boolean => lease.expiresAt > now;
  const rivals = stories.filter(({ holder }) => !isSameHolder(holder, group.holder));
  const [live] = rivals.filter(isLive);
  if (live === undefined) return { kind: 'join', freed: rivals };
  return isLive(group) ? { kind: 'refuse', by: live } : { kind: 'join', freed: [group] };
}
