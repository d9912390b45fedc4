import { useInfiniteQuery } from '@tanstack/react-query';
import { type StoryStatus } from '@muster/contract';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { withFilter } from '../board/filter.ts';
import { type ActivityFilter, parseActivityFilter } from '../data/trail-filter.ts';
import { Icon } from '../components/icons.tsx';
import { NextPageButton } from '../components/next-page.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useIsAdmin } from '../settings/rights.ts';
import { TimeAgo } from '../components/time-ago.tsx';
import { useTitle } from '../components/title.ts';
import { getActorOptionId } from '../components/whose.ts';
import { activityTexts, eventText, statusChangeText } from '../messages/activity.ts';
import { t } from '../messages/index.ts';
import { ActivityBar } from './activity-bar.tsx';
import { activityQuery } from './activity-query.ts';
import { collapseEvents, type ActivityLine } from './activity-lines.ts';

const activityRoute = getRouteApi('/activity');

const isStoryStatus = (value: unknown): value is StoryStatus =>
  typeof value === 'string' && value in t.status;

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

function ActivityRow({ line, filter }: { readonly line: ActivityLine; readonly filter: ActivityFilter }) {
  const { newestEvent, eventCount, checkpointCount } = line;
  const { kind, actor, subject, data, at } = newestEvent;
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
        {subject.type === 'story' && subject.key !== null ? (
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
        {kind === 'story.statusChanged' && isStoryStatus(data['to']) && (
          <span className="muted"> {statusChangeText(t.status[data['to']])}</span>
        )}
        {(eventCount > 1 || checkpointCount > 0) && (
          <span className="muted"> · {activityTexts.repeated(eventCount, checkpointCount)}</span>
        )}
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
      <TimeAgo className="muted tabular" at={at} />
    </li>
  );
}

/** The activity page, newest events first. */
export function ActivityPage() {
  useTitle(t.nav.activity);
  const filter = activityRoute.useSearch({ select: parseActivityFilter, structuralSharing: true });
  const activity = useInfiniteQuery(activityQuery(useClient(), filter));
  const isAdmin = useIsAdmin();
  const items = activity.data?.pages.flatMap((page) => page.items) ?? [];
  const isNarrowed = Object.keys(filter).length > 0;
  const actorName = items.find(({ actor }) => getActorOptionId(actor) === filter.actor)?.actor.name;
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.activity}</h1>
        <span className="grow" />
        {isAdmin && (
          <Link to="/audit" search={{ outcome: 'denied' }} className="button">
            {t.activity.audit}
          </Link>
        )}
      </header>
      <div className="page">
        <div className="page-column">
          <ActivityBar filter={filter} actorName={actorName} />
          {activity.isError && <LoadError error={activity.error} onRetry={() => void activity.refetch()} />}
          {activity.isPending && <Loading label={t.activity.loading} />}
          {activity.isSuccess && items.length === 0 && (
            <EmptyState title={isNarrowed ? activityTexts.none : t.activity.empty}>
              {!isNarrowed && <p>{t.activity.emptyWhy}</p>}
              {isNarrowed && (
                <>
                  <p>{activityTexts.noneWhy}</p>
                  <Link to="/activity" search={{}} className="button">
                    {activityTexts.clear}
                  </Link>
                </>
              )}
            </EmptyState>
          )}
          <ol className="rows">
            {collapseEvents(items).map((line) => (
              <ActivityRow key={line.newestEvent.id} line={line} filter={filter} />
            ))}
          </ol>
          <NextPageButton query={activity} name={t.activity.older} />
        </div>
      </div>
    </>
  );
}
