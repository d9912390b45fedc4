/** The default channels of each kind of notification. */
import {
  notificationChannels,
  type NotificationChannel,
  type NotificationKind,
  type NotificationPreference,
} from '@muster/contract';

export type ChannelPreferences = NotificationPreference['channels'];

const enableChannels = (...channels: NotificationChannel[]): ChannelPreferences => ({
  inbox: channels.includes('inbox'),
  email: channels.includes('email'),
  push: channels.includes('push'),
  digest: channels.includes('digest'),
});

/** The defaults use e-mail for notifications that a member waits for, and push for urgent ones. */
const defaultChannelsByKind: Record<NotificationKind, ChannelPreferences> = {
  mention: enableChannels('inbox', 'email', 'push'),
  assigned: enableChannels('inbox', 'email'),
  review_requested: enableChannels('inbox', 'email', 'push'),
  review_verdict: enableChannels('inbox'),
  comment_reply: enableChannels('inbox'),
  handoff: enableChannels('inbox', 'email', 'push'),
  lease_expired: enableChannels('inbox'),
  lock_taken_over: enableChannels('inbox'),
  lease_taken_over: enableChannels('inbox', 'email', 'push'),
  broadcast: enableChannels('inbox'),
  invitation_accepted: enableChannels('inbox', 'email'),
  access_requested: enableChannels('inbox', 'email'),
  access_resolved: enableChannels('inbox', 'email'),
  seat_limit: enableChannels('inbox', 'email'),
  webhook_paused: enableChannels('inbox', 'email'),
  unblocked: enableChannels('inbox'),
  forge_failing: enableChannels('inbox', 'email'),
  merge_reverted: enableChannels('inbox', 'email'),
  budget_warning: enableChannels('inbox', 'email'),
  subscribed: enableChannels('inbox'),
};

export const defaultChannels = (kind: NotificationKind): ChannelPreferences => defaultChannelsByKind[kind];

/** A member's choice for one channel of one kind. */
export interface ChannelChoice {
  readonly kind: NotificationKind;
  readonly channel: NotificationChannel;
  readonly enabled: boolean;
}

/** Returns the channels of a kind for a member with these choices. */
export function channelsOf(kind: NotificationKind, choices: readonly ChannelChoice[]): ChannelPreferences {
  const channels = { ...defaultChannelsByKind[kind] };
  for (const channel of notificationChannels) {
    const choice = choices.find((made) => made.kind === kind && made.channel === channel);
    if (choice !== undefined) channels[channel] = choice.enabled;
  }
  return channels;
}
