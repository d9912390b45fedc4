import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listChoices, setChoice } from '../../data/preferences.ts';
import { channelsOf } from '../../rules/channels.ts';

export const setPreference = handle(
  registry.notifications.setPreference,
  async ({ params, caller: { memberId }, db }) => {
    // In this order in one burst: what is read has the choice in it.
    const [, choices] = await Promise.all([db.all(setChoice(memberId, params)), listChoices(db, memberId)]);
    return { preference: { kind: params.kind, channels: channelsOf(params.kind, choices) } };
  },
);
