/** Lists the activity of a story except its comments, newest first. All events of a run share a line. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { useActorNames } from '../components/whose.ts';
import { t } from '../messages/index.ts';
import { collapseRuns } from '../pages/activity-lines.ts';
import { storyActivityQuery } from '../pages/activity-query.ts';
import { ActivityRow } from '../pages/activity-row.tsx';

export default function StoryActivity({ storyKey }: { readonly storyKey: string }) {
  const activity = useInfiniteQuery(storyActivityQuery(useClient(), storyKey));
  const nameOf = useActorNames();
  const items = activity.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className="story-part" aria-labelledby="activity">
      <div className="part-head">
        <h2 id="activity">{t.nav.activity}</h2>
        <Link to="/activity" search={{ story: storyKey }} className="side-link">
          {t.activity.ofStory}
        </Link>
      </div>
      {activity.isError && <LoadError error={activity.error} onRetry={() => void activity.refetch()} />}
      {activity.isPending && <Loading label={t.activity.loading} rows={2} />}
      <ol className="rows story-activity">
        {collapseRuns(items).map((line) => (
          <ActivityRow
            key={line.newestEvent.id}
            {...{ line, nameOf }}
            filter={{ story: storyKey }}
            ownStoryKey={storyKey}
          />
        ))}
      </ol>
      <NextPageButton query={activity} name={t.activity.older} />
    </section>
  );
}
