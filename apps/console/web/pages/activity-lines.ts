/** Groups the activity into lines: repeated events of one actor about one subject share a line. */
import { type ActivityItem } from '@muster/registry';

export interface ActivityLine {
  /** The newest of the events that share the line. */
  readonly item: ActivityItem;
  /** The number of events on this line that are not checkpoints. */
  readonly times: number;
  readonly checkpoints: number;
}

/** Returns true for a holder's report about ongoing work. */
const isReport = ({ kind }: ActivityItem): boolean =>
  kind === 'execution.updated' || kind === 'execution.checkpointed';
/** Two consecutive reports that are further apart than this are shown on different lines. */
const longestGapMs = 60 * 60_000;

const actorIdOf = ({ agentId, memberId }: ActivityItem['actor']): string | null => agentId ?? memberId;

const isSameActorAndSubject = (one: ActivityItem, other: ActivityItem): boolean =>
  actorIdOf(one.actor) === actorIdOf(other.actor) && one.subject.id === other.subject.id;

/** Groups events, which are sorted newest first. Reports share a line even if others acted in between. */
export function collapseEvents(items: readonly ActivityItem[]): ActivityLine[] {
  const lines: { item: ActivityItem; oldest: ActivityItem; times: number; checkpoints: number }[] = [];
  for (const item of items) {
    const isCheckpoint = isReport(item) && item.kind === 'execution.checkpointed';
    const line = isReport(item)
      ? lines.findLast(
          ({ item: newest, oldest }) =>
            isReport(newest) &&
            isSameActorAndSubject(newest, item) &&
            Date.parse(oldest.at) - Date.parse(item.at) <= longestGapMs,
        )
      : lines
          .slice(-1)
          .find(({ item: last }) => last.kind === item.kind && isSameActorAndSubject(last, item));
    if (line === undefined)
      lines.push({ item, oldest: item, times: isCheckpoint ? 0 : 1, checkpoints: isCheckpoint ? 1 : 0 });
    else {
      line.oldest = item;
      if (isCheckpoint) line.checkpoints += 1;
      else line.times += 1;
    }
  }
  return lines.map(({ item, times, checkpoints }) => ({ item, times, checkpoints }));
}
