/** The facts of a story on cards, in lists and in tables. */
import { type StoryCard } from '@muster/contract';
import { isBlocked, isOverdue } from '../board/filter.ts';
import { formatDay, formatShortDate, t } from '../messages/index.ts';
import { Icon, PriorityIcon } from './icons.tsx';
import { Avatar } from './people.tsx';
import { WorkStateLabel } from './work.tsx';

const maxVisibleLabels = 3;

export const LabelChips = ({ labels }: { readonly labels: readonly string[] }) => (
  <>
    {labels.slice(0, maxVisibleLabels).map((label) => (
      <span key={label} className="chip">
        <span className="cut">{label}</span>
      </span>
    ))}
    {labels.length > maxVisibleLabels && (
      <span className="chip" title={labels.slice(maxVisibleLabels).join(', ')}>
        +{labels.length - maxVisibleLabels}
      </span>
    )}
  </>
);

export function DueDay({ card }: { readonly card: Pick<StoryCard, 'status' | 'dueDate'> }) {
  if (card.dueDate === null) return null;
  const late = isOverdue(card);
  const label = (late ? t.board.overdue : t.board.due)(formatDay(card.dueDate));
  return (
    <span className={late ? 'state' : 'story-day'} data-tone={late ? 'bad' : undefined} title={label}>
      {late && <Icon name="warn" size={12} />}
      <span className="sr-only">{label}</span>
      <span aria-hidden="true">{formatShortDate(card.dueDate)}</span>
    </span>
  );
}

export const AssigneeAvatars = ({ assignees: { member, agent } }: Pick<StoryCard, 'assignees'>) => (
  <>
    {agent !== null && <Avatar name={agent.name} kind="agent" />}
    {member !== null && <Avatar name={member.name} kind="member" />}
    <span className="sr-only">
      {[agent?.name, member?.name].filter((name) => name !== undefined).join(', ')}
    </span>
  </>
);

export const PriorityMark = ({ priority }: Pick<StoryCard, 'priority'>) => (
  <>
    <PriorityIcon priority={priority} />
    {priority !== 'none' && <span className="sr-only">{t.priority[priority]}</span>}
  </>
);

/** Says that a story is blocked. Its title says by what. */
export const BlockedMark = ({ card }: { readonly card: Pick<StoryCard, 'blocked' | 'counts'> }) =>
  isBlocked(card) && (
    <span
      className="state"
      data-tone="wait"
      title={card.counts.openBlockers > 0 ? t.board.blockers(card.counts.openBlockers) : card.blocked?.note}
    >
      <Icon name="warn" size={12} />
      {t.blocked}
    </span>
  );

/** The sum of the estimates of stories; nothing if none of them has an estimate. */
export function EstimateSum({ cards }: { readonly cards: readonly Pick<StoryCard, 'estimate'>[] }) {
  const estimates = cards.flatMap(({ estimate }) => estimate ?? []);
  if (estimates.length === 0) return null;
  const sum = estimates.reduce((total, estimate) => total + estimate, 0);
  return (
    <span className="estimate-sum tabular" title={t.board.estimateSum(sum)}>
      <span className="sr-only">{t.board.estimateSum(sum)}</span>
      <span aria-hidden="true">{t.board.points(sum)}</span>
    </span>
  );
}

/** The state of work that is in progress or was submitted. */
export const ActiveWorkLabel = ({ execution }: Pick<StoryCard, 'execution'>) =>
  execution !== null &&
  execution.state !== 'available' && (
    <WorkStateLabel state={execution.state} needsRework={execution.needsRework} />
  );
