/** The page of a story: description, spec, comments, work, and readiness. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { type ReactNode, type RefObject, useRef } from 'react';
import { type Notification, type Story, type StoryContext } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { useMarkStoryNotificationsRead } from '../data/inbox.ts';
import { storyQuery } from '../data/queries.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { lazyComponent } from '../components/lazily.ts';
import { Icon, StatusIcon } from '../components/icons.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { t } from '../messages/index.ts';
import { storyTexts } from '../messages/story.ts';
import { pullRequestOf } from '../diff/pull-request.ts';
import { StoryFiles } from '../files/file-section.tsx';
import { hasValidApproval, isAwaited } from './reviews.tsx';
import { StorySidebar } from './side.tsx';
import { SpecPart } from './spec-part.tsx';
import { useStoryFieldMenus } from './story-chooser.tsx';
import { useStoryEdits } from './story-edits.ts';
import { StoryMenu } from './story-menu.tsx';
import { Threads } from './threads.tsx';
import { StoryDescriptionEditor, StoryTitleEditor } from './title.tsx';

const StoryActivity = lazyComponent(() => import('./story-activity.tsx'));
const ChangesSection = lazyComponent(() => import('../diff/changes-section.tsx'));
const storyRoute = getRouteApi('/s/$storyKey');

export function StoryPage() {
  const { storyKey: given } = storyRoute.useParams();
  // Locks and collisions identify a story only by its id.
  const isKey = /^[a-z][a-z\d]*-\d+$/i.test(given);
  const storyKey = isKey ? given.toUpperCase() : given;
  const context = useQuery(storyQuery(useClient(), storyKey));
  const story = context.data?.story ?? null;
  useTitle(story === null ? storyKey : `${story.key} ${story.title}`);
  const projectKey = projectKeyOf(storyKey);
  const { mayWrite: canWrite } = useProjectPermissions(story?.projectId ?? '');
  if (context.isError)
    return <LoadError error={context.error} onRetry={() => void context.refetch()} isPage />;
  if (story === null || context.data === undefined)
    return (
      <>
        {isKey && <StoryHeader storyKey={storyKey} projectKey={projectKey} />}
        <div className="page">
          <Loading label={storyTexts.loading} />
        </div>
      </>
    );
  if (story.key !== storyKey)
    return <Navigate to="/s/$storyKey" params={{ storyKey: story.key }} search replace />;
  // The React key resets all fields when another story opens.
  return <StoryContent key={story.id} {...{ story, projectKey, canWrite }} context={context.data} />;
}

interface StoryHeaderProps {
  readonly storyKey: string;
  readonly projectKey: string;
  readonly status?: Story['status'];
  /** The anchor of menus that keys open. */
  readonly place?: RefObject<HTMLElement | null>;
  readonly children?: ReactNode;
}

const StoryHeader = ({ storyKey, projectKey, status, place, children }: StoryHeaderProps) => (
  <header className="page-head">
    <Link to="/p/$projectKey" params={{ projectKey }} className="icon-button" aria-label={storyTexts.toBoard}>
      <Icon name="back" />
    </Link>
    <span className="key">{storyKey}</span>
    {status !== undefined && (
      <span ref={place} className="story-status">
        <StatusIcon status={status} />
        {t.status[status]}
      </span>
    )}
    {children}
  </header>
);

/** Kinds of notifications whose decision the reader of this story still has to make. */
function usePendingKinds({ reviewers, execution }: StoryContext): Notification['kind'][] {
  const { member } = useIdentity();
  const isAsked = reviewers?.some(
    (review) =>
      review.reviewer.kind === 'member' && review.reviewer.memberId === member.id && isAwaited(review),
  );
  const isOffered = execution?.state === 'offered' && execution.offer?.toMemberId === member.id;
  return [
    ...(isAsked === true ? ['review_requested' as const] : []),
    ...(isOffered ? ['handoff' as const] : []),
  ];
}

interface StoryContentProps {
  readonly story: Story;
  readonly context: StoryContext;
  readonly projectKey: string;
  readonly canWrite: boolean;
}

function StoryContent({ story, context, projectKey, canWrite }: StoryContentProps) {
  const edits = useStoryEdits(story);
  const { key: storyKey, status } = edits.displayedRecord;
  const place = useRef<HTMLElement>(null);
  useMarkStoryNotificationsRead(storyKey, usePendingKinds(context));
  const chooser = useStoryFieldMenus({ edits, assignment: context.assignment, canWrite, place });
  return (
    <>
      <StoryHeader {...{ storyKey, projectKey, status, place }}>
        <StoryMenu story={story} projectKey={projectKey} />
      </StoryHeader>
      {chooser}
      <div className="page">
        <div className="story">
          <article className="story-main">
            <StoryTitleEditor edits={edits} canWrite={canWrite} />
            <StoryDescriptionEditor edits={edits} canWrite={canWrite} />
            <SpecPart
              {...{ storyId: story.id, storyKey, canWrite, spec: context.spec }}
              isApproved={hasValidApproval(context.reviewers ?? [])}
            />
            <ChangesSection
              target={{ storyId: storyKey }}
              story={{ storyId: story.id, storyKey }}
              pullRequest={pullRequestOf(story.git, context.execution)}
            />
            <div className="story-talk">
              <StoryFiles storyKey={storyKey} />
              <Threads storyId={story.id} storyKey={storyKey} />
              <StoryActivity storyKey={storyKey} />
            </div>
          </article>
          <StorySidebar edits={edits} context={context} canWrite={canWrite} />
        </div>
      </div>
    </>
  );
}
