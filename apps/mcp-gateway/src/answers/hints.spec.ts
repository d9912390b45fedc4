import { expect, it } from '@jest/globals';
import { refusal } from '@muster/contract';
import { hintOf } from './hints.ts';

it('says when to call again, where the refusal says so', () => {
  const hint = (details: object) => hintOf(refusal('already_resolved', { ...details }).toBody('r-1'));
  expect(hint({ retryAt: '2026-11-21T09:30:00.000Z' })).toContain('at 2026-11-21T09:30:00.000Z');
  expect(hint({})).toContain('Read the decision');
});

it.each([
  [{ runId: 'run-1' }, /^You hold it yourself, by your run run-1: call start_work with runId run-1/],
  [{ runId: null }, /^You hold it yourself.*: call start_work without runId/],
  [{ runId: 'run-1', targetType: 'delivery_group' }, /: acquire it again with runId run-1/],
])('says of the caller’s own lease how to continue: %j', (details, words) => {
  const own = { targetType: 'story', yours: true, holder: { name: 'Robo' }, ...details };
  expect(hintOf(refusal('lease_held', own).toBody('r-1'))).toMatch(words);
});
