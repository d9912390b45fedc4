/**
 * The rules of points: their values, the events that give them or take them back, and the levels and badges.
 * All numbers are defined here.
 */
import {
  type Badge,
  type EventData,
  type EventKind,
  events,
  type PointKind,
  pointKinds,
} from '@muster/registry';
import { type z } from 'zod';

/** The part of an activity entry that matters for points. */
export interface Occurrence {
  readonly seq: number;
  readonly kind: string;
  /** The acting member, or the member of the acting agent; null for the system. */
  readonly actorMemberId: string | null;
  readonly projectId: string | null;
  readonly subjectId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: string;
}

/** A decision that an activity entry gives or takes back points. */
export interface PointChange {
  readonly kind: PointKind;
  readonly does: 'give' | 'takeBack';
  /**
   * The subject of the points: a story, a comment or a contract. A member gets each kind of points at most
   * once per subject.
   */
  readonly subjectId: string;
  /**
   * The member whose points change: the actor or the story's assignee. `all` takes back the points of all
   * members.
   */
  readonly whose: 'actor' | 'assignee' | 'all';
}

type Judge = (data: unknown, subjectId: string) => readonly PointChange[];

/**
 * Returns the schema of an event kind's data. The cast is necessary because the compiler cannot relate a
 * generic kind to its schema.
 */
const schemaOf = <Kind extends EventKind>(kind: Kind) =>
  events[kind] as unknown as z.ZodType<EventData<Kind>>;

/**
 * Creates a rule with typed event data. If data of an older release lacks a field, the rule gives no points.
 */
function rule<Kind extends EventKind>(
  kind: Kind,
  judgeOf: (data: EventData<Kind>, subjectId: string) => PointChange | readonly PointChange[] | undefined,
): [EventKind, Judge] {
  const schema = schemaOf(kind);
  return [
    kind,
    (data, subjectId) => {
      const parsed = schema.safeParse(data);
      return parsed.success ? [judgeOf(parsed.data, subjectId) ?? []].flat() : [];
    },
  ];
}

const give = (kind: PointKind, subjectId: string, whose: PointChange['whose'] = 'actor'): PointChange => ({
  kind,
  does: 'give',
  subjectId,
  whose,
});
const takeBack = (kind: PointKind, subjectId: string, whose: PointChange['whose'] = 'all'): PointChange => ({
  kind,
  does: 'takeBack',
  subjectId,
  whose,
});

/** The number of points that each kind gives. */
export const pointsOf: Readonly<Record<PointKind, number>> = {
  story_done: 10,
  review_given: 5,
  spec_written: 3,
  contract_published: 3,
  comment_resolved: 2,
  story_created: 1,
};

/**
 * The kinds of points that belong to a story. Deleting the story takes them back, so that deleted stories
 * earn no points.
 */
const ofStory: readonly PointKind[] = ['story_created', 'story_done', 'spec_written', 'review_given'];

/** The rules by event kind: the points that an event gives or takes back. */
const rules: ReadonlyMap<string, Judge> = new Map([
  rule('story.created', (_data, storyId) => give('story_created', storyId)),
  rule('story.deleted', (_data, storyId) => ofStory.map((kind) => takeBack(kind, storyId))),
  rule('story.statusChanged', ({ from, to }, storyId) => {
    if (to === 'done') return give('story_done', storyId, 'assignee');
    return from === 'done' ? takeBack('story_done', storyId) : undefined;
  }),
  rule('spec.updated', ({ linesAdded }, storyId) =>
    linesAdded > 0 ? give('spec_written', storyId) : undefined,
  ),
  rule('review.decided', (_data, storyId) => give('review_given', storyId)),
  rule('review.retracted', (_data, storyId) => takeBack('review_given', storyId, 'actor')),
  rule('comment.resolved', ({ commentId }) => give('comment_resolved', commentId)),
  rule('comment.reopened', ({ commentId }) => takeBack('comment_resolved', commentId)),
  rule('contract.published', (_data, contractId) => give('contract_published', contractId)),
]);

/** Returns the points that an event gives and takes back. The list is empty for events without points. */
export const judge = ({ kind, data, subjectId }: Occurrence): readonly PointChange[] =>
  rules.get(kind)?.(data, subjectId) ?? [];

/**
 * Returns the points at which a level begins: 0, 50, 150, 300, 500, … Each level takes 50 points more than
 * the previous level.
 */
export const levelBeginsAt = (level: number): number => 25 * level * (level - 1);

/** Returns the level for this many points, starting at 1. */
export function levelOf(points: number): number {
  const level = Math.floor((1 + Math.sqrt(1 + (4 * Math.max(0, points)) / 25)) / 2);
  // The computed square root may be slightly above or below an integer, so the level may be wrong by one.
  if (levelBeginsAt(level) > points && level > 1) return level - 1;
  return levelBeginsAt(level + 1) <= points ? level + 1 : level;
}

const badges: readonly Badge[] = [
  { slug: 'first-story', title: 'First story', kind: 'story_done', times: 1 },
  { slug: 'finisher', title: 'Finisher', kind: 'story_done', times: 10 },
  { slug: 'century', title: 'Century', kind: 'story_done', times: 100 },
  { slug: 'second-pair-of-eyes', title: 'Second pair of eyes', kind: 'review_given', times: 1 },
  { slug: 'gatekeeper', title: 'Gatekeeper', kind: 'review_given', times: 25 },
  { slug: 'author', title: 'Author', kind: 'spec_written', times: 5 },
  { slug: 'architect', title: 'Architect', kind: 'contract_published', times: 5 },
  { slug: 'closer', title: 'Closer', kind: 'comment_resolved', times: 25 },
  { slug: 'planner', title: 'Planner', kind: 'story_created', times: 50 },
];

/** The totals of one kind: the valid points, and how often they were given. */
export interface PointTotals {
  readonly kind: PointKind;
  readonly points: number;
  readonly times: number;
}

export const badgesOf = (tallies: readonly PointTotals[]): Badge[] =>
  badges.filter(({ kind, times }) => tallies.some((tally) => tally.kind === kind && tally.times >= times));

/** Returns the points by kind, with 0 for missing kinds. */
export function byKind(tallies: readonly PointTotals[]): Record<PointKind, number> {
  const none: Record<PointKind, number> = {
    story_done: 0,
    review_given: 0,
    spec_written: 0,
    contract_published: 0,
    comment_resolved: 0,
    story_created: 0,
  };
  for (const { kind, points } of tallies) none[kind] += points;
  return none;
}

/** Reports whether the text is a current kind. The database stores kinds as text. */
export const isPointKind = (kind: string): kind is PointKind =>
  (pointKinds as readonly string[]).includes(kind);
