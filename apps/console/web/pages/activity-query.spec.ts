import { expect, it } from '@jest/globals';
import { activityTexts, eventKinds } from '../messages/activity.ts';
import { findMatchingKinds, type EventKindGroup } from './activity-query.ts';

it('has every kind of event in one group, and none that is empty', () => {
  const groups = Object.keys(activityTexts.groups) as EventKindGroup[];
  const all = groups.map(findMatchingKinds);
  expect(all.filter(({ length }) => length === 0)).toEqual([]);
  expect(all.flat().toSorted()).toEqual(eventKinds.toSorted());
  expect(findMatchingKinds('people')).toContain('member.removed');
  expect(findMatchingKinds('people')).not.toContain('project.created');
});

it('knows one kind by its name, and none that is not there', () => {
  expect(findMatchingKinds('story.statusChanged')).toEqual(['story.statusChanged']);
  expect(findMatchingKinds('story.flown')).toEqual([]);
});
