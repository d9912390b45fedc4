/**
 * Counts the points that a part of the activity gives and takes back. The functions are pure, so that
 * property tests can try any history.
 */
import { type PointKind } from '@muster/contract';
import { evaluateRules, type PointActivity, pointValues, type PointChange } from './points.ts';

/** Points, with the number of the activity entry that gave them. They are valid until they are taken back. */
export interface AwardedPoints {
  readonly activitySeq: number;
  readonly memberId: string;
  readonly kind: PointKind;
  readonly subjectId: string;
  readonly projectId: string | null;
  readonly points: number;
  readonly at: string;
}

export interface RevokedPoints {
  readonly award: AwardedPoints;
  readonly bySeq: number;
}

/** The facts, in addition to the activity, that are needed to count points. */
export interface LedgerContext {
  /** The points that were given for the activity's subjects and have not been taken back. */
  readonly validPoints: readonly AwardedPoints[];
  /**
   * The assignee of a story when it was done, by the number of that activity entry. Without an assignee the
   * actor gets the points.
   */
  readonly assigneeBySeq: ReadonlyMap<number, string>;
  /** The last activity entry before a member's reset. Entries up to it do not count. */
  readonly resetSeqByMember: ReadonlyMap<string, number>;
}

export interface CountedPoints {
  /** All points given, in order. Later activity may have taken some of them back. */
  readonly awarded: readonly AwardedPoints[];
  readonly revoked: readonly RevokedPoints[];
}

const kindAndSubjectKey = ({ kind, subjectId }: Pick<AwardedPoints, 'kind' | 'subjectId'>): string =>
  `${kind} ${subjectId}`;

/** Computes the points that the activity gives or takes back. The activity must be ordered from oldest to newest. */
export function countPoints(occurrences: readonly PointActivity[], context: LedgerContext): CountedPoints {
  const standing = new Map<string, AwardedPoints[]>();
  for (const entry of context.validPoints)
    standing.set(kindAndSubjectKey(entry), [...(standing.get(kindAndSubjectKey(entry)) ?? []), entry]);
  const given: AwardedPoints[] = [];
  const takenBack: RevokedPoints[] = [];

  const judged = occurrences.flatMap((occurrence) =>
    evaluateRules(occurrence).map((verdict) => ({ occurrence, verdict })),
  );
  for (const { occurrence, verdict } of judged) {
    const { seq, actorMemberId } = occurrence;
    const place = kindAndSubjectKey(verdict);
    const entriesAtPlace = standing.get(place) ?? [];
    if (verdict.action === 'takeBack') {
      // In a repeated count, an old entry must not take back points that were given later.
      const goes = (entry: AwardedPoints) =>
        entry.activitySeq < seq && (verdict.affectedMember === 'all' || entry.memberId === actorMemberId);
      takenBack.push(...entriesAtPlace.filter(goes).map((entry) => ({ award: entry, bySeq: seq })));
      standing.set(
        place,
        entriesAtPlace.filter((entry) => !goes(entry)),
      );
      continue;
    }
    const memberId = memberToCredit(verdict, occurrence, context);
    if (memberId === null || entriesAtPlace.some((entry) => entry.memberId === memberId)) continue;
    if (seq <= (context.resetSeqByMember.get(memberId) ?? 0)) continue;
    const { kind, subjectId } = verdict;
    const { projectId, at } = occurrence;
    const entry = { activitySeq: seq, memberId, kind, subjectId, projectId, points: pointValues[kind], at };
    given.push(entry);
    standing.set(place, [...entriesAtPlace, entry]);
  }
  return { awarded: given, revoked: takenBack };
}

const memberToCredit = (
  { affectedMember }: PointChange,
  { seq, actorMemberId }: PointActivity,
  context: LedgerContext,
): string | null =>
  (affectedMember === 'assignee' ? context.assigneeBySeq.get(seq) : undefined) ?? actorMemberId;
