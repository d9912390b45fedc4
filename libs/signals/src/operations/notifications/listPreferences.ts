import { notificationKinds, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listChoices } from '../../data/preferences.ts';
import { channelsOf } from '../../rules/channels.ts';

export const listPreferences = handle(registry.notifications.listPreferences, async ({ caller, db }) => {
  const choices = await listChoices(db, caller.orgId, caller.memberId);
  return {
    items: notificationKinds.map((kind) => ({ kind, channels: channelsOf(kind, choices) })),
    nextCursor: null,
  };
});
