/** A line of the activity: who did what, to which record, with the most important details. */
import { Link } from '@tanstack/react-router';
import { type ActivityItem, type StoryStatus } from '@muster/contract';
import { withFilter } from '../board/filter.ts';
import { type ActivityFilter } from '../data/trail-filter.ts';
import { Icon } from '../components/icons.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { getActorOptionId } from '../components/whose.ts';
import { activityTexts, eventText, summarizeKinds } from '../messages/activity.ts';
import { t } from '../messages/index.ts';
import { type ActivityLine } from './activity-lines.ts';

const isStoryStatus = (value: unknown): value is StoryStatus =>
  typeof value === 'string' && value in t.status;

type NameOf = (id: string) => string | undefined;

/** Says what an event changed, for kinds whose data says it in a few words. */
function describeEvent({ kind, data }: ActivityItem, nameOf: NameOf): string | null {
  const names = [data['memberId'], data['agentId']].flatMap((id) =>
    typeof id === 'string' ? (nameOf(id) ?? []) : [],
  );
  const { to, fields, version, verdict } = data;
  if (kind === 'story.statusChanged' && isStoryStatus(to)) return activityTexts.toStatus(t.status[to]);
  if (kind === 'story.updated' && Array.isArray(fields))
    return activityTexts.changedFields(fields.map(String));
  if (kind.startsWith('spec.') && typeof version === 'number') return activityTexts.specVersion(version);
  if (kind === 'review.decided' && typeof verdict === 'string') return activityTexts.verdict(verdict);
  if (names.length === 0) return null;
  if (kind === 'assignment.changed') return activityTexts.assignedTo(names);
  return kind.startsWith('reviewer.') ? activityTexts.ofReviewer(names) : null;
}

interface FilterLinkProps {
  readonly filter: ActivityFilter;
  readonly title: string;
  readonly isQuiet?: boolean;
  readonly children: string;
}

/** Renders a part of a line as a link to the activity filtered by it. */
const FilterLink = ({ filter, title, isQuiet = false, children }: FilterLinkProps) => (
  <Link
    to="/activity"
    search={filter}
    className={isQuiet ? 'trail-link muted' : 'trail-link'}
    activeProps={{ 'aria-current': undefined }}
    title={title}
  >
    {children}
  </Link>
);

interface ActivityRowProps {
  readonly line: ActivityLine;
  readonly filter: ActivityFilter;
  readonly nameOf: NameOf;
  /** The key of the story whose page shows the row. The row does not link to that story. */
  readonly ownStoryKey?: string;
}

export function ActivityRow({ line, filter, nameOf, ownStoryKey }: ActivityRowProps) {
  const { newestEvent, eventCount, checkpointCount, earlierEvents } = line;
  const { kind, actor, subject, data, at } = newestEvent;
  const executionId = data['executionId'];
  const details = describeEvent(newestEvent, nameOf);
  const counts = [
    ...summarizeKinds(earlierEvents.map((event) => event.kind).toReversed()),
    ...(eventCount > 1 || checkpointCount > 0 ? [activityTexts.repeated(eventCount, checkpointCount)] : []),
  ];
  return (
    <li className="row row-slim">
      <span className="row-lead">
        <Avatar name={actor.name} kind={actor.kind} />
      </span>
      <p className="row-words">
        <FilterLink
          filter={withFilter(filter, 'actor', getActorOptionId(actor))}
          title={activityTexts.onlyBy(actorNameOf(actor))}
        >
          {actorNameOf(actor)}
        </FilterLink>{' '}
        <FilterLink
          filter={withFilter(filter, 'kind', kind)}
          title={activityTexts.only(eventText(kind))}
          isQuiet
        >
          {eventText(kind)}
        </FilterLink>{' '}
        {subject.type === 'story' && subject.key !== null && subject.key === ownStoryKey ? (
          activityTexts.thisStory
        ) : subject.type === 'story' && subject.key !== null ? (
          <Link to="/s/$storyKey" params={{ storyKey: subject.key }} className="row-title">
            <span className="key">{subject.key}</span> {subject.title}
          </Link>
        ) : subject.type === 'run' ? (
          <Link to="/runs/$runId" params={{ runId: subject.title }} className="row-title">
            {subject.title}
          </Link>
        ) : (
          subject.title
        )}
        {details !== null && <span className="muted"> {details}</span>}
        {counts.length > 0 && <span className="muted"> · {counts.join(', ')}</span>}
      </p>
      {subject.type === 'story' && subject.key !== null && filter.story === undefined && (
        <Link
          to="/activity"
          search={withFilter(filter, 'story', subject.key)}
          className="icon-button trail-only"
          aria-label={activityTexts.onlyOf(subject.key)}
          title={activityTexts.onlyOf(subject.key)}
        >
          <Icon name="search" size={13} />
        </Link>
      )}
      {ownStoryKey !== undefined && typeof executionId === 'string' && (
        <Link
          to="/runs/$runId"
          params={{ runId: executionId }}
          className="icon-button trail-only"
          aria-label={activityTexts.openRunOf(actorNameOf(actor))}
          title={activityTexts.openRunOf(actorNameOf(actor))}
        >
          <Icon name="agents" size={13} />
        </Link>
      )}
      <TimeAgo className="muted tabular" at={at} />
    </li>
  );
}
