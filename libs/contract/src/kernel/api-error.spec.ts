import { expect, it } from '@jest/globals';
import { refusal, unknownOperation } from './api-error.ts';

it('says of an unknown operation what it may have meant, also where nothing is near', () => {
  for (const didYouMean of [['stories.get'], []])
    expect(unknownOperation(didYouMean)).toMatchObject({
      status: 404,
      code: 'unknown_operation',
      details: { didYouMean },
    });
});

it('says that the same call can succeed later where the refusal names the time, whatever its reason', () => {
  const retryAt = '2026-11-21T09:30:00.000Z';
  for (const reason of ['already_resolved', 'limit_exceeded'] as const) {
    expect(refusal(reason).details.retryable).toBe(false);
    expect(refusal(reason, { retryAt }).details).toEqual({ reason, retryAt, retryable: true });
  }
});
