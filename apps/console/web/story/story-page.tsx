/** One story: what is to be built, what was said of it, who works on it, and why it can or cannot start. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { projectsQuery, storyQuery } from '../data/queries.ts';
import { Icon, StatusIcon } from '../parts/icons.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Failed, Loading } from '../parts/states.tsx';
import { useTitle } from '../parts/title.ts';
import { t } from '../texts/index.ts';
import { Side } from './side.tsx';
import { SpecPart } from './spec-part.tsx';
import { Threads } from './threads.tsx';

const route = getRouteApi('/s/$storyKey');

export function StoryPage() {
  const { storyKey: given } = route.useParams();
  const storyKey = given.toUpperCase();
  const client = useClient();
  const context = useQuery(storyQuery(client, storyKey));
  const projects = useQuery(projectsQuery(client));
  const story = context.data?.story ?? null;
  useTitle(story === null ? storyKey : `${story.key} ${story.title}`);
  if (context.isError) return <Failed error={context.error} again={() => void context.refetch()} />;
  const [projectKey = ''] = storyKey.split('-');
  const project = projects.data?.find(({ key }) => key === projectKey);
  const canWrite = project !== undefined && project.archivedAt === null && project.myRole !== 'viewer';
  return (
    <>
      <header className="page-head">
        <Link
          to="/p/$projectKey"
          params={{ projectKey }}
          className="icon-button"
          aria-label={t.story.toBoard}
        >
          <Icon name="back" />
        </Link>
        <span className="key">{storyKey}</span>
        {story !== null && (
          <span className="story-status">
            <StatusIcon status={story.status} />
            {t.status[story.status]}
          </span>
        )}
      </header>
      <div className="page">
        {story === null || context.data === undefined ? (
          <Loading label={t.story.loading} />
        ) : (
          <div className="story">
            <article className="story-main">
              <h1>{story.title}</h1>
              {story.description !== '' && <Markdown text={story.description} />}
              <SpecPart storyKey={storyKey} spec={context.data.spec} canWrite={canWrite} />
              <Threads storyKey={storyKey} />
            </article>
            <Side story={story} context={context.data} canWrite={canWrite} />
          </div>
        )}
      </div>
    </>
  );
}
