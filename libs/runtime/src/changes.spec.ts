import { describe, expect, it } from '@jest/globals';
import { changedFields } from './changes.ts';

describe('changed fields', () => {
  it('are those with another value, in whatever order an object names its own', () => {
    const now = { title: 'a', labels: ['x', 'y'], blocked: { kind: 'external', note: '' }, estimate: null };
    const wanted = { title: 'a', labels: ['y', 'x'], blocked: { note: '', kind: 'external' }, estimate: 3 };
    expect(changedFields(now, wanted)).toEqual(['labels', 'estimate']);
    expect(changedFields(now, { title: undefined, estimate: null })).toEqual([]);
  });
});
