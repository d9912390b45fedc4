import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { activityQuery } from '../data/queries.ts';
import { Avatar, nameOf } from '../parts/people.tsx';
import { Empty, Failed, Loading } from '../parts/states.tsx';
import { useIsAdmin } from '../settings/rights.ts';
import { useTitle } from '../parts/title.ts';
import { ago, exactly, t } from '../texts/index.ts';

/** What happened, newest first. */
export function ActivityPage() {
  useTitle(t.nav.activity);
  const activity = useInfiniteQuery(activityQuery(useClient()));
  const isAdmin = useIsAdmin();
  const items = activity.data?.pages.flatMap((page) => page.items) ?? [];
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
          {activity.isError && <Failed error={activity.error} again={() => void activity.refetch()} />}
          {activity.isPending && <Loading label={t.activity.loading} />}
          {activity.isSuccess && items.length === 0 && <Empty title={t.activity.empty} />}
          <ol className="rows">
            {items.map(({ id, kind, actor, subject, at }) => (
              <li key={id} className="row row-slim">
                <span className="row-lead">
                  <Avatar name={actor.name} kind={actor.kind} />
                </span>
                <p className="row-words">
                  {nameOf(actor)} <span className="muted">{t.happened(kind)}</span>{' '}
                  {subject.type === 'story' && subject.key !== null ? (
                    <Link to="/s/$storyKey" params={{ storyKey: subject.key }} className="row-title">
                      <span className="key">{subject.key}</span> {subject.title}
                    </Link>
                  ) : (
                    subject.title
                  )}
                </p>
                <time className="muted tabular" dateTime={at} title={exactly(at)}>
                  {ago(at)}
                </time>
              </li>
            ))}
          </ol>
          {activity.hasNextPage && (
            <button
              type="button"
              className="button"
              disabled={activity.isFetchingNextPage}
              onClick={() => void activity.fetchNextPage()}
            >
              {t.activity.older}
            </button>
          )}
        </div>
      </div>
    </>
  );
}
