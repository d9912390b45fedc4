import { notificationsRegistry } from '@muster/notifications-registry';
import { handle } from '@muster/runtime';
import { listChannelChoices, setChannelChoice } from '../../data/preferences.ts';
import { startDigests } from '../../digest.ts';
import { channelsOf } from '../../rules/channels.ts';

export const setPreference = handle(
  notificationsRegistry.notifications.setPreference,
  async ({ params, caller: { memberId }, db }) => {
    if (params.channel === 'digest' && params.enabled) db.deferToCommit(startDigests(memberId));
    // The queries are pipelined in this order, so `choices` includes the choice that was just stored.
    const [, choices] = await Promise.all([
      db.all(setChannelChoice(memberId, params)),
      listChannelChoices(db, memberId),
    ]);
    return { preference: { kind: params.kind, channels: channelsOf(params.kind, choices) } };
  },
);
