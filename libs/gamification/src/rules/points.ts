/** What gives points, what takes them back, and what is made of them. The numbers are stated here and nowhere else. */
import {
  type Badge,
  type EventData,
  type EventKind,
  events,
  type PointKind,
  pointKinds,
} from '@muster/registry';
import { type z } from 'zod';

/** One entry of the activity, as far as points are concerned. */
export interface Occurrence {
  readonly seq: number;
  readonly kind: string;
  /** The member who did it, or whose agent did; null where the system did. */
  readonly actorMemberId: string | null;
  readonly projectId: string | null;
  readonly subjectId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: string;
}

/** An occurrence says that there is something to be given for, or no more. */
export interface Verdict {
  readonly kind: PointKind;
  readonly does: 'give' | 'takeBack';
  /** What points of this kind stand for once at most per member: a story, a comment, a contract. */
  readonly subjectId: string;
  /** Whose: of the actor, or for a story of its assignee; all is everybody's that stand. */
  readonly whose: 'actor' | 'assignee' | 'all';
}

type Judge = (data: unknown, subjectId: string) => readonly Verdict[];

/** A kind and its schema belong together, which the compiler cannot follow while the kind is any. */
const schemaOf = <Kind extends EventKind>(kind: Kind) =>
  events[kind] as unknown as z.ZodType<EventData<Kind>>;

/** A rule reads its event's data by type. Data of an older release may lack what it asks for: then it gives nothing. */
function rule<Kind extends EventKind>(
  kind: Kind,
  judgeOf: (data: EventData<Kind>, subjectId: string) => Verdict | readonly Verdict[] | undefined,
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

const give = (kind: PointKind, subjectId: string, whose: Verdict['whose'] = 'actor'): Verdict => ({
  kind,
  does: 'give',
  subjectId,
  whose,
});
const takeBack = (kind: PointKind, subjectId: string, whose: Verdict['whose'] = 'all'): Verdict => ({
  kind,
  does: 'takeBack',
  subjectId,
  whose,
});

/** What each thing is worth. */
export const pointsOf: Readonly<Record<PointKind, number>> = {
  story_done: 10,
  review_given: 5,
  spec_written: 3,
  contract_published: 3,
  comment_resolved: 2,
  story_created: 1,
};

/** Kinds of points that a story itself stands for. They go with it, so that no one gains by stories that are deleted again. */
const ofStory: readonly PointKind[] = ['story_created', 'story_done', 'spec_written', 'review_given'];

/** THE RULES: what happened → whose points of which kind it gives, or takes back. */
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

/** Points that an event gives and takes back; empty for events without points. */
export const judge = ({ kind, data, subjectId }: Occurrence): readonly Verdict[] =>
  rules.get(kind)?.(data, subjectId) ?? [];

/** The points at which a level begins: 0, 50, 150, 300, 500, … each level takes 50 more than the one before. */
export const levelBeginsAt = (level: number): number => 25 * level * (level - 1);

/** The level that so many points make, from 1. */
export function levelOf(points: number): number {
  const level = Math.floor((1 + Math.sqrt(1 + (4 * Math.max(0, points)) / 25)) / 2);
  // A square root may come out a hair to either side of a whole number.
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

/** Of one kind: what stands, and how often it was given. */
export interface Tally {
  readonly kind: PointKind;
  readonly points: number;
  readonly times: number;
}

export const badgesOf = (tallies: readonly Tally[]): Badge[] =>
  badges.filter(({ kind, times }) => tallies.some((tally) => tally.kind === kind && tally.times >= times));

/** The points of every kind, 0 where there are none. */
export function byKind(tallies: readonly Tally[]): Record<PointKind, number> {
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

/** Kinds come back from the database as text. */
export const isPointKind = (kind: string): kind is PointKind =>
  (pointKinds as readonly string[]).includes(kind);
