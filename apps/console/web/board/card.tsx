import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { type Epic, type StoryCard } from '@muster/contract';
import { LeaseClock } from '../components/clock.tsx';
import { Icon } from '../components/icons.tsx';
import { actorNameOf } from '../components/people.tsx';
import {
  AssigneeAvatars,
  BlockedMark,
  DueDay,
  LabelChips,
  PriorityMark,
} from '../components/story-facts.tsx';
import { AgentResponseLabel, runnerCommand, StartMark, WorkStateLabel } from '../components/work.tsx';
import { t } from '../messages/index.ts';
import { canStartNow, isBlocked } from './filter.ts';

/** The footer of a card with work in progress: state, lease holder, and expiry. */
function CardWorkFooter({ execution }: { readonly execution: NonNullable<StoryCard['execution']> }) {
  const { state, holder, expiresAt, progress, needsRework } = execution;
  return (
    <div className="card-work" data-state={state}>
      <div className="card-row">
        <WorkStateLabel state={state} needsRework={needsRework} />
        {holder !== null && <span className="cut grow card-holder">{actorNameOf(holder)}</span>}
        {holder !== null && expiresAt !== null && <LeaseClock expiresAt={expiresAt} />}
      </div>
      {holder !== null && progress > 0 && (
        <div className="bar" role="img" aria-label={t.board.progress(progress)}>
          <span style={{ inlineSize: `${progress}%` }} />
        </div>
      )}
    </div>
  );
}

function CardFacts({ card }: { readonly card: StoryCard }) {
  const { counts, labels, estimate, dueDate, children } = card;
  if (
    labels.length === 0 &&
    estimate === null &&
    dueDate === null &&
    children === null &&
    counts.openThreads === 0 &&
    !isBlocked(card) &&
    counts.reviewers === 0
  )
    return null;
  return (
    <div className="card-facts">
      <BlockedMark card={card} />
      <LabelChips labels={labels} />
      <span className="card-counts">
        {children !== null && (
          <span title={t.board.children(children.done, children.total)}>
            <Icon name="tick" size={12} />
            <span className="sr-only">{t.board.children(children.done, children.total)}</span>
            <span aria-hidden="true">
              {children.done}/{children.total}
            </span>
          </span>
        )}
        <DueDay card={card} />
        {counts.openThreads > 0 && (
          <span title={t.board.threads(counts.openThreads)}>
            <Icon name="thread" size={12} />
            <span className="sr-only">{t.board.threads(counts.openThreads)}</span>
            <span aria-hidden="true">{counts.openThreads}</span>
          </span>
        )}
        {counts.reviewers > 0 && (
          <span title={t.board.reviewers(counts.reviewers)}>
            <Icon name="eye" size={12} />
            <span className="sr-only">{t.board.reviewers(counts.reviewers)}</span>
            <span aria-hidden="true">{counts.reviewers}</span>
          </span>
        )}
        {estimate !== null && (
          <span title={t.board.estimate(estimate)}>
            <span className="sr-only">{t.board.estimate(estimate)}</span>
            <span aria-hidden="true">{t.board.points(estimate)}</span>
          </span>
        )}
      </span>
    </div>
  );
}

interface CardProps {
  readonly card: StoryCard;
  readonly epic: Epic | undefined;
  readonly isActive: boolean;
  readonly isMoving: boolean;
  readonly isRecentlyChanged: boolean;
  readonly isSelected: boolean;
}

/** A card, which is a link to its story as a whole. */
export const Card = memo(function Card({
  card,
  epic,
  isActive,
  isMoving,
  isRecentlyChanged,
  isSelected,
}: CardProps) {
  return (
    <Link
      to="/s/$storyKey"
      params={{ storyKey: card.key }}
      className="card"
      data-card={card.id}
      data-moving={isMoving || undefined}
      data-fresh={isRecentlyChanged || undefined}
      data-selected={isSelected || undefined}
      draggable={false}
      tabIndex={isActive ? 0 : -1}
    >
      <div className="card-row">
        <span className="key">{card.key}</span>
        {isSelected && (
          <span className="state" data-tone="live">
            <Icon name="tick" size={12} />
            <span className="sr-only">{t.select.selected}</span>
          </span>
        )}
        <PriorityMark priority={card.priority} />
        {canStartNow(card) && <StartMark />}
        {epic !== undefined && (
          <span className="card-epic" title={epic.title}>
            {epic.color !== null && <span className="epic-mark" style={{ background: epic.color }} />}
            <span className="cut">{epic.title}</span>
          </span>
        )}
        <span className="card-people">
          <AssigneeAvatars assignees={card.assignees} />
        </span>
      </div>
      <div className="card-title">{card.title}</div>
      <CardFacts card={card} />
      {card.execution !== null && card.execution.state !== 'available' && (
        <CardWorkFooter execution={card.execution} />
      )}
      {card.agentResponse !== null && <AgentResponseLabel response={card.agentResponse} />}
      {card.agentResponse?.state === 'no_runner' && (
        <code className="card-command">{runnerCommand(card.key)}</code>
      )}
    </Link>
  );
});
