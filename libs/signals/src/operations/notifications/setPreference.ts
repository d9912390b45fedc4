import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listChoices, setChoice } from '../../data/preferences.ts';
import { channelsOf } from '../../rules/channels.ts';

export const setPreference = handle(
  registry.notifications.setPreference,
  async ({ params, caller: { orgId, memberId }, db }) => {
    // In this order in one burst: what is read has the choice in it.
    const [, choices] = await Promise.all([
      db.all(setChoice(orgId, memberId, params)),
      listChoices(db, orgId, memberId),
    ]);
    return { preference: { kind: params.kind, channels: channelsOf(params.kind, choices) } };
  },
);
