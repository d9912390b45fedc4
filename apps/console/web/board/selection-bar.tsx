/** The toolbar with actions for all selected stories. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type StoryCard } from '@muster/contract';
import { type Board } from '../data/boards.ts';
import { useClient } from '../data/context.ts';
import { type Lane } from '../data/lanes.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { epicsQuery } from '../data/queries.ts';
import { useLedProjects } from '../data/roles.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { formatDay, t } from '../messages/index.ts';
import { selectionTexts } from '../messages/selection.ts';
import {
  applyBulkChange,
  type BulkChange,
  createAssigneeChange,
  createColumnChange,
  createFieldChange,
  createLabelChange,
  createPriorityChange,
  createStatusChange,
} from './each.ts';
import { deleteStories } from './deleting.ts';
import { priorityNames, statusNames } from './filter.ts';

interface SelectionBarProps {
  readonly board: Board;
  /** The columns of the project; none if the cards are of several projects. */
  readonly lanes: readonly Lane[];
  readonly selectedIds: ReadonlySet<string>;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
}

interface ActionSelectProps {
  readonly label: string;
  readonly isDisabled: boolean;
  readonly onChoose: (value: string) => void;
  readonly children: ReactNode;
}

/** A list of values. It always shows its label, because the selected stories may have different values. */
const ActionSelect = ({ label, isDisabled, onChoose, children }: ActionSelectProps) => (
  <select
    className="field"
    aria-label={label}
    disabled={isDisabled}
    value=""
    onChange={({ target }) => onChoose(target.value)}
  >
    <option value="">{label}</option>
    {children}
  </select>
);

interface NamedRecord {
  readonly id: string;
  readonly name: string;
}

const recordOptions = (records: readonly NamedRecord[], noneName: string): ReactNode => (
  <>
    <option value="none">{noneName}</option>
    {records.map(({ id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </>
);

const nameIn = (records: readonly NamedRecord[], id: string | null): string =>
  records.find((record) => record.id === id)?.name ?? t.people.none;

/** Returns the changes that refer to other records, and the records to choose from. */
function useRecordChanges(board: Board) {
  const client = useClient();
  const members: readonly NamedRecord[] = useQuery(membersQuery(client)).data ?? [];
  const agents: readonly NamedRecord[] = useQuery(agentsQuery(client)).data ?? [];
  const { projectId } = board;
  const found = useQuery({ ...epicsQuery(client, projectId ?? ''), enabled: projectId !== null });
  const epics: readonly NamedRecord[] = found.data?.map(({ id, title }) => ({ id, name: title })) ?? [];
  const idOf = (value: string): string | null => (value === 'none' ? null : value);
  return {
    ...{ members, agents, epics },
    toAssignee: (value: string) => createAssigneeChange('member', idOf(value), (id) => nameIn(members, id)),
    toAgent: (value: string) => createAssigneeChange('agent', idOf(value), (id) => nameIn(agents, id)),
    toEpic: (value: string) => createFieldChange('epicId', idOf(value), (id) => nameIn(epics, id)),
  };
}

const toDueDate = (day: string | null): BulkChange =>
  createFieldChange('dueDate', day, (value) => (value === null ? t.people.none : formatDay(value)));

const labelsOf = (cards: Iterable<StoryCard>): string[] =>
  [...new Set([...cards].flatMap(({ labels }) => labels))].toSorted((one, other) => one.localeCompare(other));

const labelOptions = (labels: readonly string[]): ReactNode =>
  labels.map((label) => (
    <option key={label} value={label}>
      {label}
    </option>
  ));

interface FieldActionsProps {
  readonly board: Board;
  readonly cards: readonly StoryCard[];
  readonly isBusy: boolean;
  readonly onChange: (change: BulkChange) => void;
}

/** The actions for fields other than status and priority. */
function FieldActions({ board, cards, isBusy: isDisabled, onChange }: FieldActionsProps) {
  const { members, agents, epics, toAssignee, toAgent, toEpic } = useRecordChanges(board);
  return (
    <>
      <ActionSelect
        {...{ label: selectionTexts.assignee, isDisabled }}
        onChoose={(value) => onChange(toAssignee(value))}
      >
        {recordOptions(members, t.people.unassigned)}
      </ActionSelect>
      {agents.length > 0 && (
        <ActionSelect
          {...{ label: selectionTexts.agent, isDisabled }}
          onChoose={(value) => onChange(toAgent(value))}
        >
          {recordOptions(agents, selectionTexts.noAgent)}
        </ActionSelect>
      )}
      {epics.length > 0 && (
        <ActionSelect
          {...{ label: selectionTexts.epic, isDisabled }}
          onChoose={(value) => onChange(toEpic(value))}
        >
          {recordOptions(epics, selectionTexts.noEpic)}
        </ActionSelect>
      )}
      <ActionSelect
        {...{ label: selectionTexts.addLabel, isDisabled }}
        onChoose={(label) => onChange(createLabelChange(label, true))}
      >
        {labelOptions(labelsOf(board.cards()))}
      </ActionSelect>
      <ActionSelect
        {...{ label: selectionTexts.removeLabel, isDisabled }}
        onChoose={(label) => onChange(createLabelChange(label, false))}
      >
        {labelOptions(labelsOf(cards))}
      </ActionSelect>
      <DueDateAction isDisabled={isDisabled} onChange={(day) => onChange(toDueDate(day))} />
    </>
  );
}

interface DueDateActionProps {
  readonly isDisabled: boolean;
  readonly onChange: (day: string | null) => void;
}

/** Sets the due date once the day is complete and confirmed, since a day that is typed has earlier valid states. */
function DueDateAction({ isDisabled, onChange }: DueDateActionProps) {
  const [day, setDay] = useState('');
  return (
    <span className="selection-due">
      <label className="muted" htmlFor="selection-due">
        {selectionTexts.dueDate}
      </label>
      <input
        id="selection-due"
        type="date"
        className="field"
        disabled={isDisabled}
        value={day}
        onChange={({ target }) => setDay(target.value)}
      />
      <button
        type="button"
        className="button"
        disabled={isDisabled}
        onClick={() => onChange(day === '' ? null : day)}
      >
        {day === '' ? selectionTexts.clearDue : selectionTexts.setDue}
      </button>
    </span>
  );
}

export default function SelectionBar({ board, lanes, selectedIds, onSelect }: SelectionBarProps) {
  const client = useClient();
  const [isBusy, setBusy] = useState(false);
  const ledProjects = useLedProjects();
  const isOfOneProject = lanes.length > 0;
  // The order of the columns, which the stories keep when they move.
  const known = isOfOneProject ? lanes.flatMap(({ cards }) => cards) : [...board.cards()];
  const all = known.filter(({ id }) => selectedIds.has(id));
  const runWhileBusy = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    await work();
    setBusy(false);
  };
  const change = (to: BulkChange) => runWhileBusy(() => applyBulkChange(board, all, to, onSelect));
  const mayDelete = all.every(({ key }) => ledProjects.has(projectKeyOf(key)));
  const places = isOfOneProject
    ? lanes.map(({ column }) => ({ id: column.id, name: column.name }))
    : statusNames.map((id) => ({ id, name: t.status[id] }));
  return (
    <div className="selection" role="toolbar" aria-label={t.select.all}>
      <strong className="tabular">{t.select.count(all.length)}</strong>
      <ActionSelect
        label={isOfOneProject ? t.select.move : t.choose.status}
        isDisabled={isBusy}
        onChoose={(id) =>
          void change(
            isOfOneProject ? createColumnChange(board, id) : createStatusChange(id as StoryCard['status']),
          )
        }
      >
        {places.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </ActionSelect>
      <ActionSelect
        label={t.select.priority}
        isDisabled={isBusy}
        onChoose={(value) => void change(createPriorityChange(value as StoryCard['priority']))}
      >
        {priorityNames.map((priority) => (
          <option key={priority} value={priority}>
            {t.priority[priority]}
          </option>
        ))}
      </ActionSelect>
      <FieldActions {...{ board, isBusy }} cards={all} onChange={(to) => void change(to)} />
      {mayDelete && (
        <button
          type="button"
          className="button"
          disabled={isBusy}
          onClick={() => void runWhileBusy(() => deleteStories(client, board, all, onSelect))}
        >
          {selectionTexts.delete}
        </button>
      )}
      <button type="button" className="button" data-kind="quiet" onClick={() => onSelect(new Set())}>
        {t.select.clear}
      </button>
    </div>
  );
}
