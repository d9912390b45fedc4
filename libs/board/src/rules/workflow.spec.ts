import { describe, expect, it } from '@jest/globals';
import { type StoryStatus, storyStatuses, type Trust } from '@muster/contract';
import fc from 'fast-check';
import {
  canMove,
  isFinished,
  noGateFacts,
  findUnmetGates,
  compareWithWipLimit,
  workflow,
} from './workflow.ts';

const openStatuses: StoryStatus[] = ['backlog', 'ready', 'in_progress', 'in_review'];
const status = fc.constantFrom(...storyStatuses);

describe('the workflow', () => {
  it('moves any open story to any other status', () => {
    for (const from of openStatuses) {
      for (const to of storyStatuses) expect(canMove(from, to)).toBe(from !== to);
    }
  });

  it.each(['done', 'canceled'] as const)(
    'reopens a %s story to backlog, ready or in progress, and moves it nowhere else',
    (from) => {
      expect(storyStatuses.filter((to) => canMove(from, to))).toEqual(['backlog', 'ready', 'in_progress']);
    },
  );

  it('names each status, and no move to itself', () => {
    expect(Object.keys(workflow)).toEqual([...storyStatuses]);
    fc.assert(fc.property(status, (one) => !canMove(one, one)));
  });

  it('calls done and canceled finished', () => {
    expect(storyStatuses.filter(isFinished)).toEqual(['done', 'canceled']);
  });
});

describe('gates', () => {
  const policy = {
    requireSpecToStart: true,
    requiredApprovals: 2,
    requireMergeProof: false,
    requireEvidence: [],
    mergeProof: 'reported' as const,
    agentsMayComplete: true,
  };
  const shut = { ...noGateFacts, hasSpec: false, freshChangesRequested: 1, isAgent: true };

  it('ask for a spec on the way into in_progress', () => {
    expect(findUnmetGates('in_progress', policy, shut)).toEqual([{ gate: 'requireSpecToStart' }]);
    expect(findUnmetGates('in_progress', policy, { ...shut, hasSpec: true })).toEqual([]);
    expect(findUnmetGates('in_progress', { ...policy, requireSpecToStart: false }, shut)).toEqual([]);
  });

  it('ask for enough fresh approvals, and no changes requested, on the way into done', () => {
    expect(findUnmetGates('done', policy, { ...shut, freshApprovals: 1 })).toEqual([
      { gate: 'requiredApprovals', required: 2, fresh: 1 },
      { gate: 'changesRequested', fresh: 1 },
    ]);
    expect(findUnmetGates('done', policy, { ...shut, freshApprovals: 2, freshChangesRequested: 0 })).toEqual(
      [],
    );
  });

  it('ask for a merge, and for a person, on the way into done', () => {
    const reviewed = { ...shut, freshApprovals: 2, freshChangesRequested: 0 };
    const strict = { ...policy, requireMergeProof: true, agentsMayComplete: false };
    expect(findUnmetGates('done', strict, reviewed)).toEqual([
      { gate: 'requireMergeProof' },
      { gate: 'agentsMayComplete' },
    ]);
    expect(findUnmetGates('done', strict, { ...reviewed, mergeTrust: 'reported', isAgent: false })).toEqual(
      [],
    );
  });

  it("ask for the forge's own word of the merge where the policy does, and say whose word there is", () => {
    const strict = {
      ...policy,
      requiredApprovals: 0,
      requireMergeProof: true,
      mergeProof: 'verified' as const,
    };
    const merged = (mergeSeen: Trust | null) =>
      findUnmetGates('done', strict, { ...noGateFacts, hasSpec: true, mergeTrust: mergeSeen });
    expect(merged(null)).toEqual([{ gate: 'requireMergeProof', needs: 'verified', seen: null }]);
    expect(merged('reported')).toEqual([{ gate: 'requireMergeProof', needs: 'verified', seen: 'reported' }]);
    expect(merged('verified')).toEqual([]);
  });

  it('are on no other way', () => {
    for (const to of ['backlog', 'ready', 'in_review', 'canceled'] as const) {
      const strict = { ...policy, requireMergeProof: true, agentsMayComplete: false };
      expect(findUnmetGates(to, strict, shut)).toEqual([]);
    }
  });
});

describe('limits of work in progress', () => {
  it('count the story that comes', () => {
    expect(compareWithWipLimit({ wipLimit: 2, storyCount: 1 }, 'block')).toBe('fine');
    expect(compareWithWipLimit({ wipLimit: 2, storyCount: 2 }, 'block')).toBe('refuse');
    expect(compareWithWipLimit({ wipLimit: 2, storyCount: 2 }, 'warn')).toBe('warn');
  });

  it('mean nothing where they are off or not set', () => {
    expect(compareWithWipLimit({ wipLimit: 2, storyCount: 9 }, 'off')).toBe('fine');
    expect(compareWithWipLimit({ wipLimit: null, storyCount: 9 }, 'block')).toBe('fine');
  });
});
