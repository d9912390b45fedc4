import { describe, expect, it } from '@jest/globals';
import { notificationChannels, notificationKinds } from '@muster/contract';
import fc from 'fast-check';
import { channelsOf, type ChannelChoice, defaultChannels } from './channels.ts';

const choice: fc.Arbitrary<ChannelChoice> = fc.record({
  kind: fc.constantFrom(...notificationKinds),
  channel: fc.constantFrom(...notificationChannels),
  enabled: fc.boolean(),
});

describe('channels', () => {
  it('are the inbox for everything, and more for what somebody waits for', () => {
    const by = (channel: 'inbox' | 'email' | 'push') =>
      notificationKinds.filter((kind) => defaultChannels(kind)[channel]);
    expect(by('inbox')).toEqual(notificationKinds);
    expect(by('email')).toEqual([
      'mention',
      'assigned',
      'review_requested',
      'handoff',
      'lease_taken_over',
      'invitation_accepted',
      'access_requested',
      'access_resolved',
      'seat_limit',
      'webhook_paused',
      'forge_failing',
      'merge_reverted',
      'budget_warning',
    ]);
    expect(by('push')).toEqual(['mention', 'review_requested', 'handoff', 'lease_taken_over']);
  });

  it('are what was chosen, and the default where nothing was', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(choice, { selector: ({ kind, channel }) => `${kind} ${channel}` }),
        (choices) => {
          for (const kind of notificationKinds) {
            const channels = channelsOf(kind, choices);
            for (const channel of notificationChannels) {
              const made = choices.find((one) => one.kind === kind && one.channel === channel);
              expect(channels[channel]).toBe(made?.enabled ?? defaultChannels(kind)[channel]);
            }
          }
        },
      ),
    );
  });
});
