import { expect, it } from '@jest/globals';
import { isAcceptedFileName } from './checkpoint.ts';

it('leaves files out of a checkpoint whose names Muster would refuse', () => {
  const files = ['src/a.ts', 'a b', 'é', 'z\u200dw', 'a\\b', 'c:x', 'a\nb', 'a\r', 'x'.repeat(513)];
  expect(files.filter(isAcceptedFileName)).toEqual(['src/a.ts', 'a b', 'é', 'z\u200dw']);
});
