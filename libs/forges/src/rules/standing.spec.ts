import { describe, expect, it } from '@jest/globals';
import { combineWorkStatus, type StoryMergeState } from './standing.ts';

const sha = 'a'.repeat(40);
const story: StoryMergeState = {
  ...{ key: 'WEB-1', specVersion: 7, requiredApprovals: 1, freshApprovals: 1, freshChangesRequested: 0 },
  ...{ staleVerdicts: 0, headSha: sha, lockedPaths: [], hasMoreLocks: false },
};
const combineStories = (...stories: Partial<StoryMergeState>[]) =>
  combineWorkStatus([{ endedAs: null, stories: stories.map((more) => ({ ...story, ...more })) }], sha);

describe('what a forge is told', () => {
  const cases: [what: string, more: Partial<StoryMergeState>, state: string, description: string][] = [
    ['of all that is there', {}, 'success', 'spec v7 · 1 of 1 approvals · no lock conflicts'],
    [
      'where none is asked for',
      { requiredApprovals: 0, freshApprovals: 0 },
      'success',
      'spec v7 · no approval needed · no lock conflicts',
    ],
    [
      'where one is missing, and another is stale',
      { requiredApprovals: 2, staleVerdicts: 1 },
      'pending',
      'spec v7 · 1 of 2 approvals, 1 stale · no lock conflicts',
    ],
    [
      'where what was approved is another commit than this head',
      { headSha: 'b'.repeat(40) },
      'pending',
      'spec v7 · 0 of 1 approvals · no lock conflicts',
    ],
    [
      'where the code under review is known by a short name',
      { headSha: 'a'.repeat(8) },
      'success',
      'spec v7 · 1 of 1 approvals · no lock conflicts',
    ],
    [
      'where changes are requested, whatever was approved',
      { freshChangesRequested: 2 },
      'failure',
      'changes requested by 2 · spec v7 · 1 of 1 approvals · no lock conflicts',
    ],
    [
      'where others have locked its files',
      { lockedPaths: ['src/a.ts', 'src/b.ts'] },
      'failure',
      'spec v7 · 1 of 1 approvals · src/a.ts and 1 more are locked by others',
    ],
    [
      'where not all locks were looked at',
      { hasMoreLocks: true },
      'success',
      'spec v7 · 1 of 1 approvals · some locks were not checked',
    ],
  ];
  it.each(cases)('%s', (_what, more, state, description) => {
    expect(combineStories(more)).toEqual({ state, description });
  });

  it('of several stories is the worst, and names those that something is missing of', () => {
    expect(
      combineStories({}, { key: 'WEB-2', freshApprovals: 0 }, { key: 'WEB-3', freshChangesRequested: 1 }),
    ).toMatchObject({
      state: 'failure',
      description: expect.stringMatching(/^WEB-3: changes requested by 1 .*; WEB-2: spec/),
    });
    expect(combineStories({}, { key: 'WEB-2' }).state).toBe('success');
  });

  it('of work that ended without success is that, though another at the head may go on', () => {
    const [ended, going] = [
      { endedAs: 'canceled', stories: [story] },
      { endedAs: null, stories: [story] },
    ];
    expect(combineWorkStatus([going, ended], sha)).toEqual({
      state: 'failure',
      description: 'the work has ended: canceled',
    });
  });

  it('of work without a story is that there is none', () => {
    expect(combineStories().state).toBe('pending');
  });

  it('has at most 140 characters', () => {
    const { description } = combineStories({ lockedPaths: ['é'.repeat(300)] });
    expect(Array.from(description)).toHaveLength(140);
    expect(description.endsWith('…')).toBe(true);
  });
});
