import { expect, it } from '@jest/globals';
import { type ExecutionState } from '@muster/registry';
import { isQuestionOpen } from './driver.ts';

it('an agent whose question is open waits for people, and is not idle', () => {
  const leaseIn = (state: ExecutionState) => ({ execution: () => ({ state }) });
  expect(isQuestionOpen(leaseIn('waiting_input'))).toBe(true);
  expect(isQuestionOpen(leaseIn('leased'))).toBe(false);
});
