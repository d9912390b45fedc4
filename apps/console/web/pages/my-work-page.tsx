/** The viewer's pending tasks, each with its next action. */
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import { type ListedExecution, type Notification, type Reviewer, type StoryCard } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { isNotificationOnly } from '../data/needs.ts';
import {
  unreadNotificationsQuery,
  projectsQuery,
  pendingReviewsQuery,
  reworkNeededQuery,
  activeWorkQuery,
} from '../data/queries.ts';
import { Icon, StatusIcon } from '../components/icons.tsx';
import { OfferActions, OfferSummary } from '../components/offer.tsx';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { RowGroup, ListRow } from '../components/row.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import {
  ActiveWorkLabel,
  BlockedMark,
  DueDay,
  LabelChips,
  PriorityMark,
} from '../components/story-facts.tsx';
import { workTone } from '../components/work.tsx';
import { useMayCreateProjects } from '../settings/rights.ts';
import { useStartState } from '../start/start-state.ts';
import { timeAgo, t } from '../messages/index.ts';
import { myWorkTexts } from '../messages/my-work.ts';
import { assignedQuery, groupAssigned } from './my-work.ts';

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
          <StoryButton storyKey={story?.key} name={myWorkTexts.look} />
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

function MentionRow({ notification }: { readonly notification: Notification }) {
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
          <StoryButton storyKey={storyKey} name={myWorkTexts.look} />
        ) : (
          <Link to="/inbox" className="button">
            {myWorkTexts.look}
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
    details={myWorkTexts.asked(timeAgo(review.createdAt))}
    actions={<StoryButton storyKey={review.storyKey} name={myWorkTexts.review} />}
  />
);

/** Renders the empty state. Without a project, the first run opens unless it was hidden. */
function EmptyMyWork() {
  const projects = useQuery(projectsQuery(useClient()));
  const mayMakeProjects = useMayCreateProjects();
  const { isListed } = useStartState();
  if (projects.data === undefined) return <Loading label={myWorkTexts.loading} />;
  const isFirstRun = projects.data.length === 0 && mayMakeProjects;
  if (isFirstRun && isListed !== false) return <Navigate to="/start" replace />;
  return (
    <EmptyState title={myWorkTexts.empty}>
      <p>
        {isFirstRun
          ? myWorkTexts.firstProject
          : projects.data.length === 0
            ? myWorkTexts.noProject
            : myWorkTexts.emptyWhy}
      </p>
      {isFirstRun ? (
        <Link to="/start" className="button" data-kind="main">
          {t.nav.start}
        </Link>
      ) : (
        projects.data.length > 0 && (
          <Link to="/stories" search={{ work: ['start'] }} className="button">
            {myWorkTexts.findWork}
          </Link>
        )
      )}
    </EmptyState>
  );
}

/** A story that is assigned to the viewer. */
const AssignedRow = ({ card }: { readonly card: StoryCard }) => (
  <li className="story-row">
    <Link to="/s/$storyKey" params={{ storyKey: card.key }} className="story-link">
      <span className="story-priority">
        <PriorityMark priority={card.priority} />
      </span>
      <StatusIcon status={card.status} />
      <span className="sr-only">{t.status[card.status]}</span>
      <span className="key">{card.key}</span>
      <span className="cut story-name">{card.title}</span>
      <span className="story-facts">
        <BlockedMark card={card} />
        <ActiveWorkLabel execution={card.execution} />
        <span className="story-labels">
          <LabelChips labels={card.labels} />
        </span>
      </span>
      <span className="story-due">
        <DueDay card={card} />
      </span>
    </Link>
  </li>
);

function AssignedStories({
  cards,
  hasMore,
}: {
  readonly cards: readonly StoryCard[];
  readonly hasMore: boolean;
}) {
  return (
    <section className="group" aria-labelledby="assigned">
      <div className="my-head">
        <h2 id="assigned">{myWorkTexts.assigned}</h2>
        <span className="story-count tabular">
          {cards.length.toLocaleString()}
          {hasMore && '+'}
        </span>
        <span className="grow" />
        <Link to="/stories" search={{ who: ['me'], group: 'status' }} className="button" data-kind="quiet">
          {myWorkTexts.showAll}
        </Link>
      </div>
      {groupAssigned(cards).map(([group, list]) => (
        <div key={group} className="my-group">
          <h3>{myWorkTexts.groups[group]}</h3>
          <ul role="list" className="my-list">
            {list.map((card) => (
              <AssignedRow key={card.id} card={card} />
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

/** Fetches everything that the page shows. */
function useMyWork() {
  const client = useClient();
  const { member, agent } = useIdentity();
  const work = useQuery(activeWorkQuery(client));
  const rework = useQuery(reworkNeededQuery(client));
  const reviews = useQuery(pendingReviewsQuery(client));
  const assigned = useQuery(assignedQuery(client));
  // Agents have no inbox, so the page does not fetch it for an agent.
  const inbox = useQuery({ ...unreadNotificationsQuery(client), enabled: agent === null });
  const all = [work, rework, reviews, assigned, ...(agent === null ? [inbox] : [])];
  const failed = all.find(({ isError }) => isError);
  return {
    error: failed?.error ?? null,
    isReady: all.every(({ isPending }) => !isPending),
    refetch: () => all.forEach((query) => void query.refetch()),
    assigned: assigned.data?.items ?? [],
    hasMoreAssigned: assigned.data?.nextCursor != null,
    notifications: inbox.data?.filter(isNotificationOnly) ?? [],
    offers: work.data?.filter(({ offer }) => offer?.toMemberId === member.id) ?? [],
    questions: work.data?.filter(({ state }) => state === 'waiting_input') ?? [],
    reviews: reviews.data ?? [],
    stalled: work.data?.filter(({ state }) => state === 'stalled') ?? [],
    rework: rework.data ?? [],
  };
}

const WaitingForViewer = ({
  offers,
  questions,
  reviews,
  notifications,
}: Pick<ReturnType<typeof useMyWork>, 'offers' | 'questions' | 'reviews' | 'notifications'>) => (
  <section className="group" aria-labelledby="waiting">
    <h2 id="waiting">{myWorkTexts.waiting}</h2>
    <ul className="rows">
      {offers.map((one) => (
        <OfferRow key={one.id} execution={one} />
      ))}
      {questions.map((one) => (
        <WorkRow
          key={one.id}
          execution={one}
          reason={one.answered ? myWorkTexts.answered : myWorkTexts.asks}
          actionLabel={one.answered ? myWorkTexts.look : myWorkTexts.answer}
        />
      ))}
      {reviews.map((one) => (
        <ReviewRow key={one.id} review={one} />
      ))}
      {notifications.map((one) => (
        <MentionRow key={one.id} notification={one} />
      ))}
    </ul>
  </section>
);

export function MyWorkPage() {
  useTitle(t.nav.myWork);
  const { error, isReady, refetch, assigned, hasMoreAssigned, stalled, rework, ...waiting } = useMyWork();
  const { offers, questions, reviews, notifications } = waiting;
  const isWaiting = [offers, questions, reviews, notifications].some(({ length }) => length > 0);
  const attention = [
    ...stalled.map((one) => [one, myWorkTexts.expired] as const),
    ...rework.map((one) => [one, t.needsRework] as const),
  ];
  const hasLeftPart = isWaiting || attention.length > 0;
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.myWork}</h1>
      </header>
      <div className="page">
        {error !== null && <LoadError error={error} onRetry={refetch} />}
        {error === null && !isReady && <Loading label={myWorkTexts.loading} />}
        {error === null && isReady && !hasLeftPart && assigned.length === 0 && <EmptyMyWork />}
        <div className="my-work">
          {hasLeftPart && (
            <div>
              {isWaiting && <WaitingForViewer {...waiting} />}
              <RowGroup id="attention" title={myWorkTexts.attention} items={attention}>
                {([one, reason]) => (
                  <WorkRow key={one.id} execution={one} reason={reason} actionLabel={myWorkTexts.look} />
                )}
              </RowGroup>
            </div>
          )}
          {assigned.length > 0 && <AssignedStories cards={assigned} hasMore={hasMoreAssigned} />}
        </div>
      </div>
    </>
  );
}
