import { describe, expect, it } from '@jest/globals';
import { mergeGit, emptyGit } from './git.ts';

const pullRequest = { number: 7, url: 'https://example.com/7', state: 'open' as const };

describe('what is known of the code', () => {
  it('is kept where nothing is said, cleared by null, replaced by a value', () => {
    const now = { ...emptyGit, branch: 'a', checks: 'passing' };
    expect(mergeGit(now, { checks: null, headSha: 'abcdef0' })).toEqual({
      ...now,
      checks: null,
      headSha: 'abcdef0',
    });
  });

  it('takes a pull request as a whole', () => {
    const now = { ...emptyGit, pullRequest: { ...pullRequest, title: 'Old' } };
    expect(mergeGit(now, { pullRequest }).pullRequest).toEqual({ ...pullRequest, title: null });
    expect(mergeGit(now, { pullRequest: null }).pullRequest).toBeNull();
    expect(mergeGit(now, {}).pullRequest).toEqual(now.pullRequest);
  });
});
