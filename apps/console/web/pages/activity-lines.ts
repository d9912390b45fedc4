/** Groups the activity into lines: repeated events of one actor about one subject share a line. */
import { type ActivityItem } from '@muster/contract';

export interface ActivityLine {
  /** The newest of the events that share the line. */
  readonly newestEvent: ActivityItem;
  /** The number of events on this line that are not checkpoints. */
  readonly eventCount: number;
  readonly checkpointCount: number;
  /** The other events of a run that has one line, newest first; empty for other lines. */
  readonly earlierEvents: readonly ActivityItem[];
}

/** Returns true for a holder's report about ongoing work. */
const isProgressReport = ({ kind }: ActivityItem): boolean =>
  kind === 'execution.updated' || kind === 'execution.checkpointed';
/** Two consecutive reports that are further apart than this are shown on different lines. */
const maxReportGapMs = 60 * 60_000;

const actorIdOf = ({ agentId, memberId }: ActivityItem['actor']): string | null => agentId ?? memberId;

const isSameActorAndSubject = (one: ActivityItem, other: ActivityItem): boolean =>
  actorIdOf(one.actor) === actorIdOf(other.actor) && one.subject.id === other.subject.id;

/**
 * Groups events, which are sorted newest first. Progress reports of one actor about one subject share a line,
 * even if other actors acted in between.
 */
export function collapseEvents(items: readonly ActivityItem[]): ActivityLine[] {
  const lines: {
    newestEvent: ActivityItem;
    oldest: ActivityItem;
    eventCount: number;
    checkpointCount: number;
  }[] = [];
  for (const item of items) {
    const isCheckpoint = item.kind === 'execution.checkpointed';
    const line = isProgressReport(item)
      ? lines.findLast(
          ({ newestEvent: newest, oldest }) =>
            isProgressReport(newest) &&
            isSameActorAndSubject(newest, item) &&
            Date.parse(oldest.at) - Date.parse(item.at) <= maxReportGapMs,
        )
      : lines
          .slice(-1)
          .find(({ newestEvent: last }) => last.kind === item.kind && isSameActorAndSubject(last, item));
    if (line === undefined)
      lines.push({
        newestEvent: item,
        oldest: item,
        eventCount: isCheckpoint ? 0 : 1,
        checkpointCount: isCheckpoint ? 1 : 0,
      });
    else {
      line.oldest = item;
      if (isCheckpoint) line.checkpointCount += 1;
      else line.eventCount += 1;
    }
  }
  return lines.map(({ newestEvent, eventCount, checkpointCount }) => ({
    newestEvent,
    eventCount,
    checkpointCount,
    earlierEvents: [],
  }));
}

/** Groups events like `collapseEvents`, but all events of an actor's work under one execution share a line. */
export function collapseRuns(items: readonly ActivityItem[]): ActivityLine[] {
  const isOfRun = ({ data }: ActivityItem): boolean => data['executionId'] !== undefined;
  const runs = Map.groupBy(
    items.filter(isOfRun),
    ({ data, actor }) => `${String(data['executionId'])} ${actorIdOf(actor)}`,
  );
  const runLines = [...runs.values()].flatMap(([newestEvent, ...earlierEvents]): ActivityLine[] =>
    newestEvent === undefined ? [] : [{ newestEvent, eventCount: 1, checkpointCount: 0, earlierEvents }],
  );
  const otherLines = collapseEvents(items.filter((item) => !isOfRun(item)));
  const lines = new Map([...runLines, ...otherLines].map((line) => [line.newestEvent, line]));
  return items.flatMap((item) => lines.get(item) ?? []);
}
