import { describe, expect, it } from '@jest/globals';
import { eventKinds, pointKinds } from '@muster/contract';
import fc from 'fast-check';
import {
  badgesOf,
  pointsByKind,
  isPointKind,
  evaluateRules,
  pointsAtLevelStart,
  levelOf,
  pointValues,
} from './points.ts';

const subjectId = '01936d5c-0000-7000-8000-000000000080';
const commentId = '01936d5c-0000-7000-8000-000000000081';
const evaluateActivity = (kind: string, data: Record<string, unknown> = {}) =>
  evaluateRules({
    seq: 1,
    kind,
    actorMemberId: 'ana',
    projectId: null,
    subjectId,
    data,
    at: '2026-11-21T09:30:00.000Z',
  });
const evaluateFirst = (...occurrence: Parameters<typeof evaluateActivity>) =>
  evaluateActivity(...occurrence)[0];
const evaluateMove = (from: string, to: string) =>
  evaluateFirst('story.statusChanged', { from, to, columnId: null });

describe('what gives points', () => {
  it('is a story done, for whoever it is assigned to', () => {
    expect(evaluateMove('in_review', 'done')).toEqual({
      kind: 'story_done',
      action: 'give',
      subjectId,
      affectedMember: 'assignee',
    });
    expect(evaluateMove('in_progress', 'in_review')).toBeUndefined();
    expect(evaluateMove('in_progress', 'canceled')).toBeUndefined();
  });

  it('is taken back when the story is opened again', () => {
    expect(evaluateMove('done', 'in_progress')).toEqual({
      kind: 'story_done',
      action: 'takeBack',
      subjectId,
      affectedMember: 'all',
    });
    expect(evaluateMove('canceled', 'in_progress')).toBeUndefined();
  });

  it('is a review with a verdict, until the reviewer has none again', () => {
    for (const verdict of ['approved', 'changes_requested', 'commented'])
      expect(evaluateFirst('review.decided', { verdict, note: null })).toMatchObject({
        kind: 'review_given',
        action: 'give',
      });
    expect(evaluateFirst('review.retracted', { previousVerdict: 'approved' })).toMatchObject({
      kind: 'review_given',
      action: 'takeBack',
      affectedMember: 'actor',
    });
  });

  it('is a thread resolved, each by itself, until it is opened again', () => {
    expect(evaluateFirst('comment.resolved', { commentId })).toMatchObject({
      action: 'give',
      subjectId: commentId,
    });
    expect(evaluateFirst('comment.reopened', { commentId })).toMatchObject({
      action: 'takeBack',
      subjectId: commentId,
    });
  });

  it('is a spec written, if anything was written', () => {
    expect(evaluateFirst('spec.updated', { version: 1, linesAdded: 3, linesRemoved: 0 })).toMatchObject({
      kind: 'spec_written',
      action: 'give',
    });
    expect(evaluateFirst('spec.updated', { version: 2, linesAdded: 0, linesRemoved: 3 })).toBeUndefined();
  });

  it('is taken back with a story that is deleted: all that the story stood for', () => {
    const takenBack = ['story_created', 'story_done', 'spec_written', 'review_given'];
    expect(evaluateActivity('story.deleted')).toEqual(
      takenBack.map((kind) => ({ kind, action: 'takeBack', subjectId, affectedMember: 'all' })),
    );
  });

  it('is nothing else, and never data that says less than its event does', () => {
    const kinds = eventKinds.filter((kind) => evaluateFirst(kind) !== undefined);
    expect(kinds).toEqual(['story.deleted']);
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...eventKinds), fc.string()), fc.jsonValue(), (kind, data) => {
        const verdict = evaluateFirst(kind, data as Record<string, unknown>);
        expect(verdict === undefined || pointKinds.includes(verdict.kind)).toBe(true);
      }),
    );
  });
});

describe('levels', () => {
  it('begin at 0, 50, 150, 300 and 500 points', () => {
    expect([1, 2, 3, 4, 5].map(pointsAtLevelStart)).toEqual([0, 50, 150, 300, 500]);
    expect([0, 49, 50, 149, 150, 299, 300].map(levelOf)).toEqual([1, 1, 2, 2, 3, 3, 4]);
  });

  const points = fc.nat({ max: 2 ** 31 });

  it('never fall with more points', () => {
    fc.assert(
      fc.property(points, points, (some, more) =>
        expect(levelOf(some + more)).toBeGreaterThanOrEqual(levelOf(some)),
      ),
    );
  });

  it('hold exactly the points from where they begin to where the next begins', () => {
    fc.assert(
      fc.property(points, (some) => {
        const level = levelOf(some);
        expect(pointsAtLevelStart(level)).toBeLessThanOrEqual(some);
        expect(pointsAtLevelStart(level + 1)).toBeGreaterThan(some);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), (level) => {
        expect(levelOf(pointsAtLevelStart(level))).toBe(level);
        expect(levelOf(pointsAtLevelStart(level + 1) - 1)).toBe(level);
      }),
    );
  });
});

describe('badges and kinds', () => {
  const tallyOf = (kind: (typeof pointKinds)[number], times: number) => ({
    kind,
    times,
    points: times * pointValues[kind],
  });

  it('are earned by how often, and kept in the order of the list', () => {
    expect(badgesOf([])).toEqual([]);
    expect(badgesOf([tallyOf('story_done', 9)]).map(({ slug }) => slug)).toEqual(['first-story']);
    expect(badgesOf([tallyOf('review_given', 1), tallyOf('story_done', 10)]).map(({ slug }) => slug)).toEqual(
      ['first-story', 'finisher', 'second-pair-of-eyes'],
    );
  });

  it('name every kind, without points too', () => {
    expect(pointsByKind([tallyOf('story_done', 2)])).toEqual({ ...pointsByKind([]), story_done: 20 });
    expect(Object.keys(pointsByKind([])).sort()).toEqual([...pointKinds].sort());
    expect([isPointKind('story_done'), isPointKind('toString'), isPointKind('')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
