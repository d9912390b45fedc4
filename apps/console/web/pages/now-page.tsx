/** The viewer's pending tasks, each with its next action. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ListedExecution, type Notification, type Reviewer } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { isNotificationOnly } from '../data/needs.ts';
import {
  unreadNotificationsQuery,
  projectsQuery,
  pendingReviewsQuery,
  reworkNeededQuery,
  activeWorkQuery,
} from '../data/queries.ts';
import { Icon } from '../components/icons.tsx';
import { OfferActions, OfferSummary } from '../components/offer.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { RowGroup, ListRow } from '../components/row.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { workTone } from '../components/work.tsx';
import { useMayCreateProjects } from '../settings/rights.ts';
import { timeAgo, t } from '../messages/index.ts';
import { nowTexts } from '../messages/now.ts';

const StoryButton = ({ storyKey, name }: { readonly storyKey: string | undefined; readonly name: string }) =>
  storyKey === undefined ? null : (
    <Link to="/s/$storyKey" params={{ storyKey }} className="button">
      {name}
      <span className="sr-only"> {storyKey}</span>
    </Link>
  );

interface WorkRowProps {
  readonly execution: ListedExecution;
  readonly reason: string;
  readonly actionLabel: string;
}

function WorkRow({ execution, reason, actionLabel }: WorkRowProps) {
  const { story, group, lease, updatedAt, state, needsRework } = execution;
  return (
    <ListRow
      leadingElement={
        <span className="state" data-tone={workTone(state, needsRework)}>
          <Icon name="warn" />
        </span>
      }
      storyKey={story?.key ?? null}
      title={story?.title ?? group?.name ?? ''}
      details={[reason, lease === null ? undefined : actorNameOf(lease.holder), timeAgo(updatedAt)]
        .filter((part) => part !== undefined)
        .join(' · ')}
      actions={<StoryButton storyKey={story?.key} name={actionLabel} />}
    />
  );
}

function OfferRow({ execution }: { readonly execution: ListedExecution }) {
  const { story, group, offer } = execution;
  return (
    <ListRow
      leadingElement={
        <span className="state" data-tone="wait">
          <Icon name="inbox" />
        </span>
      }
      storyKey={story?.key ?? null}
      title={story?.title ?? group?.name ?? ''}
      details={offer !== null && <OfferSummary offer={offer} namesAddressee={false} />}
      actions={
        <>
          <StoryButton storyKey={story?.key} name={nowTexts.look} />
          <OfferActions
            execution={execution}
            storyKey={story?.key ?? null}
            name={story?.key ?? group?.name ?? ''}
          />
        </>
      }
    />
  );
}

function MentionRow({ told: notification }: { readonly told: Notification }) {
  const { actor, title, body, subject, createdAt } = notification;
  const storyKey = subject?.type === 'story' ? subject.key : null;
  return (
    <ListRow
      leadingElement={<Avatar name={actor.name} kind={actor.kind} />}
      storyKey={storyKey}
      title={title}
      details={[timeAgo(createdAt), body].filter((part) => part !== '').join(' · ')}
      actions={
        storyKey !== null ? (
          <StoryButton storyKey={storyKey} name={nowTexts.look} />
        ) : (
          <Link to="/inbox" className="button">
            {nowTexts.look}
            <span className="sr-only"> {title}</span>
          </Link>
        )
      }
    />
  );
}

const ReviewRow = ({ review }: { readonly review: Reviewer }) => (
  <ListRow
    leadingElement={
      <span className="state" data-tone="look">
        <Icon name="eye" />
      </span>
    }
    storyKey={review.storyKey}
    title={review.storyTitle}
    details={nowTexts.asked(timeAgo(review.createdAt))}
    actions={<StoryButton storyKey={review.storyKey} name={nowTexts.review} />}
  />
);

/** Renders the empty state. A viewer without projects is offered to create one. */
function EmptyNowPage() {
  const projects = useQuery(projectsQuery(useClient()));
  const mayMakeProjects = useMayCreateProjects();
  const hasProjects = projects.data?.length !== 0;
  return (
    <EmptyState title={nowTexts.empty}>
      <p>{hasProjects ? nowTexts.emptyWhy : mayMakeProjects ? nowTexts.firstProject : nowTexts.noProject}</p>
      {!hasProjects && mayMakeProjects && (
        <Link to="/new-project" className="button" data-kind="main">
          {t.nav.newProject}
        </Link>
      )}
    </EmptyState>
  );
}

export function NowPage() {
  useTitle(t.nav.now);
  const client = useClient();
  const { member, agent } = useIdentity();
  const work = useQuery(activeWorkQuery(client));
  const rework = useQuery(reworkNeededQuery(client));
  const reviews = useQuery(pendingReviewsQuery(client));
  // Agents have no inbox, so the page does not fetch it for an agent.
  const inbox = useQuery({ ...unreadNotificationsQuery(client), enabled: agent === null });
  const all = [work, rework, reviews, ...(agent === null ? [inbox] : [])];
  const failed = all.find(({ isError }) => isError);
  const told = inbox.data?.filter(isNotificationOnly) ?? [];
  const offers = work.data?.filter(({ offer }) => offer?.toMemberId === member.id) ?? [];
  const questions = work.data?.filter(({ state }) => state === 'waiting_input') ?? [];
  const stalled = work.data?.filter(({ state }) => state === 'stalled') ?? [];
  const isReady = all.every(({ isPending }) => !isPending);
  const isEmpty =
    isReady &&
    [told, offers, questions, stalled, rework.data ?? [], reviews.data ?? []].every(
      ({ length }) => length === 0,
    );
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.now}</h1>
      </header>
      <div className="page">
        <div className="page-column">
          {failed !== undefined && (
            <LoadError error={failed.error} onRetry={() => all.forEach((query) => void query.refetch())} />
          )}
          {failed === undefined && !isReady && <Loading label={nowTexts.loading} />}
          {failed === undefined && isEmpty && <EmptyNowPage />}
          <RowGroup id="questions" title={nowTexts.questions} items={questions}>
            {(one) => (
              <WorkRow key={one.id} execution={one} reason={nowTexts.asks} actionLabel={nowTexts.answer} />
            )}
          </RowGroup>
          <RowGroup id="told" title={nowTexts.told} items={told}>
            {(one) => <MentionRow key={one.id} told={one} />}
          </RowGroup>
          <RowGroup id="offers" title={nowTexts.offers} items={offers}>
            {(one) => <OfferRow key={one.id} execution={one} />}
          </RowGroup>
          <RowGroup id="reviews" title={nowTexts.reviews} items={reviews.data}>
            {(one) => <ReviewRow key={one.id} review={one} />}
          </RowGroup>
          <RowGroup id="stalled" title={nowTexts.stalled} items={stalled}>
            {(one) => (
              <WorkRow key={one.id} execution={one} reason={nowTexts.expired} actionLabel={nowTexts.look} />
            )}
          </RowGroup>
          <RowGroup id="rework" title={nowTexts.rework} items={rework.data}>
            {(one) => (
              <WorkRow key={one.id} execution={one} reason={t.needsRework} actionLabel={nowTexts.look} />
            )}
          </RowGroup>
        </div>
      </div>
    </>
  );
}
