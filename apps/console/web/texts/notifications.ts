/** How one is told of what, in English: loaded with the settings. */
import { type Registry, type ResultOf } from '@muster/registry';

type Kind = ResultOf<Registry['notifications']['listPreferences']>['items'][number]['kind'];

export const told = {
  intro: 'How you are told of what concerns you. It holds from now on; nobody else sees it.',
  what: 'You are told when',
  channels: { inbox: 'Inbox', email: 'E-mail', push: 'Push' },
  needs: 'Needs you',
  known: 'Good to know',
  kinds: {
    mention: 'someone mentions you',
    review_requested: 'someone asks you for a review',
    handoff: 'work is offered to you',
    lease_expired: 'a lease of yours or your agents runs out',
    access_requested: 'someone asks for access to a project that you lead',
    seat_limit: 'no seat is left',
    webhook_paused: 'a webhook of yours is paused',
    forge_failing: 'deliveries of a connected forge cannot be read',
    assigned: 'something is assigned to you',
    unblocked: 'a story assigned to you is no longer blocked',
    review_verdict: 'someone reviewed your work',
    merge_reverted: 'merged work that you did or reviewed is reverted',
    comment_reply: 'someone replies to you',
    lock_taken_over: 'a lock of yours is freed by another',
    lease_taken_over: 'work of yours is taken over',
    broadcast: 'something is told to all',
    invitation_accepted: 'someone accepts your invitation',
    access_resolved: 'it is decided on your access',
  } satisfies Record<Kind, string>,
  by: (what: string, channel: string) => `${channel}, when ${what}`,
  mute: 'you are not told',
  push: 'Push reaches the devices on which an app of yours asked for it.',
  readOnly: 'This token may read alone: what is chosen here cannot be changed with it.',
};
