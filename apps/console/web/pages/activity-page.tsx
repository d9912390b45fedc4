import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { parseActivityFilter } from '../data/trail-filter.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useIsAdmin } from '../settings/rights.ts';
import { useTitle } from '../components/title.ts';
import { getActorOptionId, useActorNames } from '../components/whose.ts';
import { activityTexts } from '../messages/activity.ts';
import { t } from '../messages/index.ts';
import { ActivityBar } from './activity-bar.tsx';
import { collapseEvents } from './activity-lines.ts';
import { activityQuery } from './activity-query.ts';
import { ActivityRow } from './activity-row.tsx';

const activityRoute = getRouteApi('/activity');

/** The activity page, newest events first. */
export function ActivityPage() {
  useTitle(t.nav.activity);
  const filter = activityRoute.useSearch({ select: parseActivityFilter, structuralSharing: true });
  const activity = useInfiniteQuery(activityQuery(useClient(), filter));
  const isAdmin = useIsAdmin();
  const nameOf = useActorNames();
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
              <ActivityRow key={line.newestEvent.id} {...{ line, filter, nameOf }} />
            ))}
          </ol>
          <NextPageButton query={activity} name={t.activity.older} />
        </div>
      </div>
    </>
  );
}
