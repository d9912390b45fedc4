import { expect, it } from '@jest/globals';
import { activityTexts, eventKinds } from '../messages/activity.ts';
import { kindsOf, type KindGroup } from './activity-query.ts';

it('has every kind of event in one group, and none that is empty', () => {
  const groups = Object.keys(activityTexts.groups) as KindGroup[];
  const all = groups.map(kindsOf);
  expect(all.filter(({ length }) => length === 0)).toEqual([]);
  expect(all.flat().toSorted()).toEqual(eventKinds.toSorted());
  expect(kindsOf('people')).toContain('member.removed');
  expect(kindsOf('people')).not.toContain('project.created');
});

it('knows one kind by its name, and none that is not there', () => {
  expect(kindsOf('story.statusChanged')).toEqual(['story.statusChanged']);
  expect(kindsOf('story.flown')).toEqual([]);
});
