/** The default channels of each kind of notification. */
import {
  notificationChannels,
  type NotificationChannel,
  type NotificationKind,
  type NotificationPreference,
} from '@muster/registry';

export type ChannelPreferences = NotificationPreference['channels'];

const by = (...channels: NotificationChannel[]): ChannelPreferences => ({
  inbox: channels.includes('inbox'),
  email: channels.includes('email'),
  push: channels.includes('push'),
});

/** The defaults use e-mail for notifications that a member waits for, and push for urgent ones. */
const defaults: Record<NotificationKind, ChannelPreferences> = {
  mention: by('inbox', 'email', 'push'),
  assigned: by('inbox', 'email'),
  review_requested: by('inbox', 'email', 'push'),
  review_verdict: by('inbox'),
  comment_reply: by('inbox'),
  handoff: by('inbox', 'email', 'push'),
  lease_expired: by('inbox'),
  lock_taken_over: by('inbox'),
  lease_taken_over: by('inbox', 'email', 'push'),
  broadcast: by('inbox'),
  invitation_accepted: by('inbox', 'email'),
  access_requested: by('inbox', 'email'),
  access_resolved: by('inbox', 'email'),
  seat_limit: by('inbox', 'email'),
  webhook_paused: by('inbox', 'email'),
  unblocked: by('inbox'),
  forge_failing: by('inbox', 'email'),
  merge_reverted: by('inbox', 'email'),
};

export const defaultChannels = (kind: NotificationKind): ChannelPreferences => defaults[kind];

/** A member's choice for one channel of one kind. */
export interface ChannelChoice {
  readonly kind: NotificationKind;
  readonly channel: NotificationChannel;
  readonly enabled: boolean;
}

/** Answers the channels of a kind for a member with these choices. */
export function channelsOf(kind: NotificationKind, choices: readonly ChannelChoice[]): ChannelPreferences {
  const channels = { ...defaults[kind] };
  for (const channel of notificationChannels) {
    const choice = choices.find((made) => made.kind === kind && made.channel === channel);
    if (choice !== undefined) channels[channel] = choice.enabled;
  }
  return channels;
}
