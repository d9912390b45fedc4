/**
 * The ledger: what a stretch of the activity gives and takes back, worked out from what stood before it. Pure, so that
 * what holds for every history can be tried on any.
 */
import { type PointKind } from '@muster/registry';
import { judge, type Occurrence, pointsOf, type Verdict } from './points.ts';

/** Points given, and by which entry of the activity; they stand until they are taken back. */
export interface Given {
  readonly activitySeq: number;
  readonly memberId: string;
  readonly kind: PointKind;
  readonly subjectId: string;
  readonly projectId: string | null;
  readonly points: number;
  readonly at: string;
}

export interface TakenBack {
  readonly given: Given;
  readonly bySeq: number;
}

/** What is known beside the occurrences. */
export interface Known {
  /** What stands, of the subjects that the occurrences are about. */
  readonly standing: readonly Given[];
  /** Who it was assigned to when a story was done, by the number of that entry; the actor where no member was. */
  readonly assignees: ReadonlyMap<number, string>;
  /** Up to which entry a member's history counts no more. */
  readonly resets: ReadonlyMap<string, number>;
}

export interface Counted {
  /** Everything that was given, in order; some of it may be taken back again by what came later. */
  readonly given: readonly Given[];
  readonly takenBack: readonly TakenBack[];
}

const placeOf = ({ kind, subjectId }: Pick<Given, 'kind' | 'subjectId'>): string => `${kind} ${subjectId}`;

/** Counts occurrences, oldest first. */
export function countPoints(occurrences: readonly Occurrence[], known: Known): Counted {
  const standing = new Map<string, Given[]>();
  for (const entry of known.standing)
    standing.set(placeOf(entry), [...(standing.get(placeOf(entry)) ?? []), entry]);
  const given: Given[] = [];
  const takenBack: TakenBack[] = [];

  const judged = occurrences.flatMap((occurrence) =>
    judge(occurrence).map((verdict) => ({ occurrence, verdict })),
  );
  for (const { occurrence, verdict } of judged) {
    const { seq, actorMemberId } = occurrence;
    const place = placeOf(verdict);
    const there = standing.get(place) ?? [];
    if (verdict.does === 'takeBack') {
      // Counted once more, an old entry must not take back what was given since.
      const goes = (entry: Given) =>
        entry.activitySeq < seq && (verdict.whose === 'all' || entry.memberId === actorMemberId);
      takenBack.push(...there.filter(goes).map((entry) => ({ given: entry, bySeq: seq })));
      standing.set(
        place,
        there.filter((entry) => !goes(entry)),
      );
      continue;
    }
    const memberId = ownerOf(verdict, occurrence, known);
    if (memberId === null || there.some((entry) => entry.memberId === memberId)) continue;
    if (seq <= (known.resets.get(memberId) ?? 0)) continue;
    const { kind, subjectId } = verdict;
    const { projectId, at } = occurrence;
    const entry = { activitySeq: seq, memberId, kind, subjectId, projectId, points: pointsOf[kind], at };
    given.push(entry);
    standing.set(place, [...there, entry]);
  }
  return { given, takenBack };
}

const ownerOf = ({ whose }: Verdict, { seq, actorMemberId }: Occurrence, known: Known): string | null =>
  (whose === 'assignee' ? known.assignees.get(seq) : undefined) ?? actorMemberId;
