/** The facts of a story in lists and tables. */
import { type ReactNode } from 'react';
import { type Epic, type StoryCard } from '@muster/registry';
import { isOverdue } from '../board/filter.ts';
import { Icon, PriorityIcon, StatusIcon } from '../components/icons.tsx';
import { Avatar } from '../components/people.tsx';
import { formatDay, formatShortDate, formatShortDay, t, timeAgo } from '../messages/index.ts';
import { createdAtOf } from './grouping.ts';
import { type TableColumn } from './table-columns.ts';
import { projectKeyOf } from '../data/story-key.ts';

const maxVisibleLabels = 3;

export const EpicName = ({ epic }: { readonly epic: Epic | undefined }) =>
  epic === undefined ? null : (
    <span className="story-epic" title={epic.title}>
      {epic.color !== null && <span className="epic-mark" style={{ background: epic.color }} />}
      <span className="cut">{epic.title}</span>
    </span>
  );

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

export const PersonName = ({ name, kind }: { readonly name: string; readonly kind: 'member' | 'agent' }) => (
  <span className="story-person">
    <Avatar name={name} kind={kind} />
    <span className="cut">{name}</span>
  </span>
);

export interface CellContext {
  readonly epics: ReadonlyMap<string, Epic>;
  readonly projects: ReadonlyMap<string, string>;
}

/** Renders one fact of a story; null if the story has none. */
export function renderCell(card: StoryCard, column: TableColumn, context: CellContext): ReactNode {
  const { status, priority, assignees, epicId, labels, estimate, children, updatedAt } = card;
  switch (column) {
    case 'status':
      return (
        <span className="story-person">
          <StatusIcon status={status} />
          <span className="cut">{t.status[status]}</span>
        </span>
      );
    case 'priority':
      return priority === 'none' ? null : (
        <span className="story-person">
          <PriorityIcon priority={priority} />
          {t.priority[priority]}
        </span>
      );
    case 'assignee':
      return assignees.member && <PersonName name={assignees.member.name} kind="member" />;
    case 'agent':
      return assignees.agent && <PersonName name={assignees.agent.name} kind="agent" />;
    case 'epic':
      return epicId === null ? null : <EpicName epic={context.epics.get(epicId)} />;
    case 'labels':
      return labels.length === 0 ? null : <LabelChips labels={labels} />;
    case 'dueDate':
      return <DueDay card={card} />;
    case 'estimate':
      return estimate === null ? null : t.board.points(estimate);
    case 'children':
      return children === null ? null : (
        <span title={t.board.children(children.done, children.total)}>
          {children.done}/{children.total}
        </span>
      );
    case 'project': {
      const key = projectKeyOf(card.key);
      return <span className="cut">{context.projects.get(key) ?? key}</span>;
    }
    case 'created':
      return <span className="story-day">{formatShortDay(createdAtOf(card))}</span>;
    case 'updated':
      return <span className="story-day">{timeAgo(updatedAt)}</span>;
  }
}
