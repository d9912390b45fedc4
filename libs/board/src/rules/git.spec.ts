import { describe, expect, it } from '@jest/globals';
import { changedFields } from './changes.ts';
import { mergeGit, nothingKnown } from './git.ts';

const pullRequest = { number: 7, url: 'https://example.com/7', state: 'open' as const };

describe('what is known of the code', () => {
  it('is kept where nothing is said, cleared by null, replaced by a value', () => {
    const now = { ...nothingKnown, branch: 'a', checks: 'passing' };
    expect(mergeGit(now, { checks: null, headSha: 'abcdef0' })).toEqual({
      ...now,
      checks: null,
      headSha: 'abcdef0',
    });
  });

  it('takes a pull request as a whole', () => {
    const now = { ...nothingKnown, pullRequest: { ...pullRequest, title: 'Old' } };
    expect(mergeGit(now, { pullRequest }).pullRequest).toEqual({ ...pullRequest, title: null });
    expect(mergeGit(now, { pullRequest: null }).pullRequest).toBeNull();
    expect(mergeGit(now, {}).pullRequest).toEqual(now.pullRequest);
  });
});

describe('changed fields', () => {
  it('are those with another value, in whatever order an object names its own', () => {
    const now = { title: 'a', labels: ['x', 'y'], blocked: { kind: 'external', note: '' }, estimate: null };
    const wanted = { title: 'a', labels: ['y', 'x'], blocked: { note: '', kind: 'external' }, estimate: 3 };
    expect(changedFields(now, wanted)).toEqual(['labels', 'estimate']);
    expect(changedFields(now, { title: undefined, estimate: null })).toEqual([]);
  });
});
