import { expect, it } from '@jest/globals';
import { type ExecutionState } from '@muster/contract';
import { isQuestionOpen, wasKilled } from './driver.ts';

it('an agent whose question is open waits for people, and is not idle', () => {
  const leaseIn = (state: ExecutionState) => ({ execution: () => ({ state }) });
  expect(isQuestionOpen(leaseIn('waiting_input'))).toBe(true);
  expect(isQuestionOpen(leaseIn('leased'))).toBe(false);
});

it('an agent was killed where it or a command in its shell ended by a signal', () => {
  expect([null, 129, 137, 143, 192].map(wasKilled)).toEqual([true, true, true, true, true]);
  expect([0, 1, 127, 128, 255].map(wasKilled)).toEqual([false, false, false, false, false]);
});
