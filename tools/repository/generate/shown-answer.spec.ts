import { expect, it } from '@jest/globals';
import { shown } from './shown-answer.ts';

const now = new Date('2026-11-24T12:00:00.000Z');

it.each([
  ['with digits', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_…'],
  ['without any', 'qWeRtYuIoPaSdFgHjKlZxCvBnMqWeRtYuIoPaSdFgHj', '…'],
  [
    'in an address',
    'https://muster.example/app?ticket=qWeRtYuIoPaSdFgHjKlZxCvBnM',
    'https://muster.example/app?ticket=…',
  ],
])('leaves no secret in an answer, %s', (_which, secret, left) => {
  expect(shown({ secret }, now)).toEqual({ secret: left });
});

it('leaves words, names of operations and paths', () => {
  const answer = {
    said: 'The newest answer is shown, whatever the order of arrival',
    operation: 'deliveryExecutions.listForTargetOfProject',
    path: 'src/parser/reading/statements/select-from-where',
  };
  expect(shown(answer, now)).toEqual(answer);
});
