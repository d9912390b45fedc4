import { expect, it } from '@jest/globals';
import { type Notification } from '@muster/contract';
import { bundleByStory, snoozeEnd } from './inbox-bundles.ts';

const told = (id: string, storyId: string | null): Notification => ({
  ...{ id, kind: 'mention', title: id, body: '', readAt: null, snoozedUntil: null },
  subject: storyId === null ? null : { type: 'story', id: storyId, key: `WEB-${storyId}`, title: storyId },
  actor: { kind: 'member', memberId: null, agentId: null, name: 'Ana' },
  createdAt: '2026-11-30T08:00:00.000Z',
});

it('bundles notifications about one story at the place of the newest', () => {
  const bundles = bundleByStory([
    told('e', '1'),
    told('d', null),
    told('c', '2'),
    told('b', '1'),
    told('a', null),
  ]);
  expect(bundles.map(({ notifications }) => notifications.map(({ id }) => id))).toEqual([
    ['e', 'b'],
    ['d'],
    ['c'],
    ['a'],
  ]);
});

it.each([
  ['hour', '2026-11-30T23:30', '2026-12-01T00:30'],
  ['tomorrow', '2026-11-30T23:30', '2026-12-01T09:00'],
  ['tomorrow', '2026-12-01T00:10', '2026-12-02T09:00'],
  ['nextWeek', '2026-11-30T08:00', '2026-12-07T09:00'],
  ['nextWeek', '2026-12-05T08:00', '2026-12-07T09:00'],
  ['nextWeek', '2026-12-06T23:00', '2026-12-07T09:00'],
] as const)('snoozes for %s from %s until %s', (period, now, end) => {
  expect(snoozeEnd(period, new Date(now).getTime())).toEqual(new Date(end));
});
