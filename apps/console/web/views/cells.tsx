/** The cells of a table of stories. */
import { type ReactNode } from 'react';
import { type Epic, type StoryCard } from '@muster/contract';
import { PriorityIcon, StatusIcon } from '../components/icons.tsx';
import { Avatar } from '../components/people.tsx';
import { DueDay, LabelChips } from '../components/story-facts.tsx';
import { formatShortDay, t, timeAgo } from '../messages/index.ts';
import { createdAtOf } from './grouping.ts';
import { type TableColumn } from './table-columns.ts';
import { projectKeyOf } from '../data/story-key.ts';

export const EpicName = ({ epic }: { readonly epic: Epic | undefined }) =>
  epic === undefined ? null : (
    <span className="story-epic" title={epic.title}>
      {epic.color !== null && <span className="epic-mark" style={{ background: epic.color }} />}
      <span className="cut">{epic.title}</span>
    </span>
  );

const PersonName = ({ name, kind }: { readonly name: string; readonly kind: 'member' | 'agent' }) => (
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
