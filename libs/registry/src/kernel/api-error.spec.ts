import { expect, it } from '@jest/globals';
import { unknownOperation } from './api-error.ts';

it('says of an unknown operation what it may have meant, also where nothing is near', () => {
  for (const didYouMean of [['stories.get'], []])
    expect(unknownOperation(didYouMean)).toMatchObject({
      status: 404,
      code: 'unknown_operation',
      details: { didYouMean },
    });
});
