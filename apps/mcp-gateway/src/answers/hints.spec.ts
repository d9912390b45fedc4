import { expect, it } from '@jest/globals';
import { refusal } from '@muster/registry';
import { hintOf } from './hints.ts';

it('says when to call again, where the refusal says so', () => {
  const hint = (details: object) => hintOf(refusal('already_resolved', { ...details }).toBody('r-1'));
  expect(hint({ retryAt: '2026-11-21T09:30:00.000Z' })).toContain('at 2026-11-21T09:30:00.000Z');
  expect(hint({})).toContain('Read the decision');
});
