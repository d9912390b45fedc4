import { expect, it } from '@jest/globals';
import { registry } from '@muster/registry';
import { type JournaledCall } from '../journal.ts';
import { checkAnswers } from './answers.ts';

const moveAnswered = (status: number | null, reason: string | null): JournaledCall => ({
  ...{ requestId: 'spec-1', operation: registry.stories.updateStatus, status, reason },
});
const problemsOf = (call: JournaledCall): string[] =>
  checkAnswers([call]).flatMap(({ problems }) => problems);

it.each([
  ['a success', 200, null],
  ['a refusal of the operation', 422, 'policy'],
  ['a refusal of every operation', 404, 'not_found'],
])('accepts %s', (_name, status, reason) => {
  expect(problemsOf(moveAnswered(status, reason))).toEqual([]);
});

it.each([
  ['a missing answer', null, null],
  ['a fault', 500, 'internal'],
  ['a refusal of another operation', 422, 'seats_exhausted'],
  ['a refusal that the contract does not have', 422, 'made_up'],
])('reports %s', (_name, status, reason) => {
  expect(problemsOf(moveAnswered(status, reason))).toHaveLength(1);
});
