import { useInfiniteQuery } from '@tanstack/react-query';
import { type ActivityItem, type StoryStatus } from '@muster/registry';
import { Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { activityQuery } from '../data/queries.ts';
import { Avatar, nameOf } from '../parts/people.tsx';
import { Empty, Failed, Loading } from '../parts/states.tsx';
import { useIsAdmin } from '../settings/rights.ts';
import { useTitle } from '../parts/title.ts';
import { happened, movedTo } from '../texts/activity.ts';
import { ago, exactly, t } from '../texts/index.ts';

interface Happened {
  readonly item: ActivityItem;
  readonly times: number;
}

/** The same of the same by the same, one after the other, is one line. */
function together(items: readonly ActivityItem[]): Happened[] {
  const lines: Happened[] = [];
  for (const item of items) {
    const last = lines.at(-1);
    const isSame =
      last?.item.kind === item.kind &&
      last.item.subject.id === item.subject.id &&
      last.item.actor.name === item.actor.name;
    if (isSame) lines[lines.length - 1] = { item: last.item, times: last.times + 1 };
    else lines.push({ item, times: 1 });
  }
  return lines;
}

const isStatus = (value: unknown): value is StoryStatus => typeof value === 'string' && value in t.status;

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
            {together(items).map(({ item: { id, kind, actor, subject, data, at }, times }) => (
              <li key={id} className="row row-slim">
                <span className="row-lead">
                  <Avatar name={actor.name} kind={actor.kind} />
                </span>
                <p className="row-words">
                  {nameOf(actor)} <span className="muted">{happened(kind)}</span>{' '}
                  {subject.type === 'story' && subject.key !== null ? (
                    <Link to="/s/$storyKey" params={{ storyKey: subject.key }} className="row-title">
                      <span className="key">{subject.key}</span> {subject.title}
                    </Link>
                  ) : (
                    subject.title
                  )}
                  {kind === 'story.statusChanged' && isStatus(data['to']) && (
                    <span className="muted"> {movedTo(t.status[data['to']])}</span>
                  )}
                  {times > 1 && <span className="muted"> · {t.activity.times(times)}</span>}
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
