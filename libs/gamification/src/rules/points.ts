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
} from '@muster/contract';
import { type z } from 'zod';

/** The part of an activity entry that matters for points. */
export interface PointActivity {
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
  readonly action: 'give' | 'takeBack';
  /**
   * The subject of the points: a story, a comment or a contract. A member gets each kind of points at most
   * once per subject.
   */
  readonly subjectId: string;
  /**
   * The member whose points change: the actor or the story's assignee. `all` takes back the points of all
   * members.
   */
  readonly affectedMember: 'actor' | 'assignee' | 'all';
}

type PointRule = (data: unknown, subjectId: string) => readonly PointChange[];

/**
 * Returns the schema of an event kind's data. The cast is necessary because the compiler cannot relate a
 * generic kind to its schema.
 */
const schemaOf = <Kind extends EventKind>(kind: Kind) =>
  events[kind] as unknown as z.ZodType<EventData<Kind>>;

/**
 * Creates a rule with typed event data. If data of an older release lacks a field, the rule gives no points.
 */
function createRule<Kind extends EventKind>(
  kind: Kind,
  evaluate: (data: EventData<Kind>, subjectId: string) => PointChange | readonly PointChange[] | undefined,
): [EventKind, PointRule] {
  const schema = schemaOf(kind);
  return [
    kind,
    (data, subjectId) => {
      const parsed = schema.safeParse(data);
      return parsed.success ? [evaluate(parsed.data, subjectId) ?? []].flat() : [];
    },
  ];
}

const givePoints = (
  kind: PointKind,
  subjectId: string,
  affectedMember: PointChange['affectedMember'] = 'actor',
): PointChange => ({
  kind,
  action: 'give',
  subjectId,
  affectedMember,
});
const takeBackPoints = (
  kind: PointKind,
  subjectId: string,
  affectedMember: PointChange['affectedMember'] = 'all',
): PointChange => ({
  kind,
  action: 'takeBack',
  subjectId,
  affectedMember,
});

/** The number of points that each kind gives. */
export const pointValues: Readonly<Record<PointKind, number>> = {
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
const storyPointKinds: readonly PointKind[] = ['story_created', 'story_done', 'spec_written', 'review_given'];

/** The rules by event kind: the points that an event gives or takes back. */
const pointRules: ReadonlyMap<string, PointRule> = new Map([
  createRule('story.created', (_data, storyId) => givePoints('story_created', storyId)),
  createRule('story.deleted', (_data, storyId) =>
    storyPointKinds.map((kind) => takeBackPoints(kind, storyId)),
  ),
  createRule('story.statusChanged', ({ from, to }, storyId) => {
    if (to === 'done') return givePoints('story_done', storyId, 'assignee');
    return from === 'done' ? takeBackPoints('story_done', storyId) : undefined;
  }),
  createRule('spec.updated', ({ linesAdded }, storyId) =>
    linesAdded > 0 ? givePoints('spec_written', storyId) : undefined,
  ),
  createRule('review.decided', (_data, storyId) => givePoints('review_given', storyId)),
  createRule('review.retracted', (_data, storyId) => takeBackPoints('review_given', storyId, 'actor')),
  createRule('comment.resolved', ({ commentId }) => givePoints('comment_resolved', commentId)),
  createRule('comment.reopened', ({ commentId }) => takeBackPoints('comment_resolved', commentId)),
  createRule('contract.published', (_data, contractId) => givePoints('contract_published', contractId)),
]);

/** Returns the points that an event gives and takes back. The list is empty for events without points. */
export const evaluateRules = ({ kind, data, subjectId }: PointActivity): readonly PointChange[] =>
  pointRules.get(kind)?.(data, subjectId) ?? [];

/**
 * Returns the points at which a level begins: 0, 50, 150, 300, 500, … Each level takes 50 points more than
 * the previous level.
 */
export const pointsAtLevelStart = (level: number): number => 25 * level * (level - 1);

/** Returns the level for this many points, starting at 1. */
export function levelOf(points: number): number {
  const level = Math.floor((1 + Math.sqrt(1 + (4 * Math.max(0, points)) / 25)) / 2);
  // The computed square root may be slightly above or below an integer, so the level may be wrong by one.
  if (pointsAtLevelStart(level) > points && level > 1) return level - 1;
  return pointsAtLevelStart(level + 1) <= points ? level + 1 : level;
}

const availableBadges: readonly Badge[] = [
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
  availableBadges.filter(({ kind, times }) =>
    tallies.some((tally) => tally.kind === kind && tally.times >= times),
  );

/** Returns the points by kind, with 0 for missing kinds. */
export function pointsByKind(tallies: readonly PointTotals[]): Record<PointKind, number> {
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
