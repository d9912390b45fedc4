/** English texts about notification preferences, loaded with the settings. */
import { type ChatService, type ResultOf } from '@muster/contract';
import { type Registry } from '@muster/registry';

type Kind = ResultOf<Registry['notifications']['listPreferences']>['items'][number]['kind'];

export const notificationTexts = {
  intro: 'Choose how you are notified. Changes apply from now on, and only to you.',
  what: 'Notify me when',
  channels: { inbox: 'Inbox', email: 'E-mail', push: 'Push', digest: 'Digest' },
  needs: 'Action needed',
  known: 'For your information',
  kinds: {
    mention: 'someone mentions you',
    review_requested: 'someone requests your review',
    handoff: 'someone hands work off to you',
    lease_expired: 'your lease or a lease of your agents expires',
    access_requested: 'someone requests access to a project you lead',
    seat_limit: 'no seats are left',
    webhook_paused: 'one of your webhooks is paused',
    forge_failing: 'events from a connected forge can’t be read',
    assigned: 'a story is assigned to you',
    unblocked: 'a story assigned to you is no longer blocked',
    review_verdict: 'someone reviews your work',
    merge_reverted: 'merged work that you did or reviewed is reverted',
    subscribed: 'something happens on a story you follow',
    budget_warning: '80 % or all of a budget is used',
    comment_reply: 'someone replies to you',
    lock_taken_over: 'someone releases one of your locks',
    lease_taken_over: 'someone takes over your work',
    broadcast: 'an announcement is posted',
    invitation_accepted: 'someone accepts your invitation',
    access_resolved: 'your access request is decided',
  } satisfies Record<Kind, string>,
  by: (what: string, channel: string) => `${channel} when ${what}`,
  mute: 'off',
  push: 'Push notifications are sent to devices on which you allowed them in an app, and to the channels below. The digest is one e-mail a day with what is still unread.',
  chat: {
    title: 'Slack and Microsoft Teams',
    intro: 'Send your push notifications to a channel. Everyone in the channel can read them.',
    connect: 'Connect channel',
    connected: 'Channel connected',
    service: 'Service',
    services: { slack: 'Slack', teams: 'Microsoft Teams' } satisfies Record<ChatService, string>,
    nameHint: 'Your name for the channel, such as #ana-notifications',
    url: 'Webhook URL',
    urlHints: {
      slack: 'In Slack, create an app with an incoming webhook, and copy its URL.',
      teams:
        'In Teams, add the workflow “Send webhook alerts to a channel” under Workflows, and copy its URL.',
    } satisfies Record<ChatService, string>,
    empty: 'No channels connected',
    emptyWhy: 'A connected channel stays connected when you sign out, until you remove it here.',
    failed: 'not delivering: the URL no longer works',
    since: (when: string) => `connected ${when}`,
    removeTitle: (name: string) => `Remove ${name}?`,
    removeWhy: 'Notifications are no longer sent to this channel.',
    account: {
      platform: 'Slack account that answers as you',
      connectTitle: (name: string) => `Connect the Slack account ${name}?`,
      connectWhy: (team: string) =>
        `Answers chosen with this account of the workspace ${team} will be yours. Continue only if you just chose an answer in Slack yourself.`,
      connect: 'Connect account',
      connected: 'Slack account connected. Choose your answer in Slack again.',
      removeWhy: 'Answers chosen with this account are no longer accepted.',
    },
  },
  readOnly: 'This token is read-only. Sign in to change these settings.',
};
