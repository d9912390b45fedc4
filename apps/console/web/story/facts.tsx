/** The facts about a story, edited in place. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Assignment, type Story } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { epicsQuery } from '../data/queries.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { t } from '../messages/index.ts';
import { storyTexts, editTexts } from '../messages/story.ts';
import { useAssign } from './assigning.ts';
import { EditableBlockReason, EditableBlockers } from './blocking.tsx';
import { LabeledFact, EditableFact } from './fact.tsx';
import { LabelEditor } from './labels.tsx';
import { type StoryEdits } from './story-edits.ts';
import { EditableDueDate, EditableParent, EditableTouches } from './structure.tsx';

interface FactSelectProps {
  readonly label: string;
  readonly value: string;
  readonly onChoose: (value: string) => unknown;
  readonly options: readonly { readonly id: string; readonly name: string }[];
}

const FactSelect = ({ label, value, onChoose, options }: FactSelectProps) => (
  <select
    className="field fact-choice"
    aria-label={label}
    value={value}
    onChange={({ target }) => onChoose(target.value)}
  >
    {options.map(({ id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </select>
);

const toSelectOptions = <Value extends string>(labels: Readonly<Record<Value, string>>) =>
  (Object.keys(labels) as Value[]).map((id) => ({ id, name: labels[id] }));

/** The estimate, saved when the field loses the focus or on Enter. */
function EstimateInput({ edits }: { readonly edits: StoryEdits }) {
  const { displayedRecord, save } = edits;
  const [text, setText] = useState<string | null>(null);
  const now = displayedRecord.estimate === null ? '' : String(displayedRecord.estimate);
  const send = (field: HTMLInputElement): void => {
    if (text === null || !field.reportValidity()) return;
    setText(null);
    if (text !== now) void save({ estimate: text === '' ? null : Number(text) });
  };
  return (
    <input
      className="field fact-choice tabular"
      type="number"
      min={0}
      max={10_000}
      step="any"
      aria-label={storyTexts.estimate}
      placeholder={editTexts.noEstimate}
      value={text ?? now}
      onChange={({ target }) => setText(target.value)}
      onBlur={({ target }) => send(target)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') send(event.currentTarget);
        else if (event.key === 'Escape') setText(null);
      }}
    />
  );
}

interface AssigneeFactProps {
  readonly story: Story;
  readonly assignment: Assignment | null;
}

function AssigneeFact({ story, assignment }: AssigneeFactProps) {
  const client = useClient();
  const members = useQuery(membersQuery(client));
  const agents = useQuery(agentsQuery(client));
  const assign = useAssign(story);
  type Known = { readonly id: string; readonly name: string };
  const people = (all: readonly Known[] | undefined, now: Known | null): Known[] => [
    { id: '', name: t.people.unassigned },
    ...(all ?? []),
    ...(now !== null && all?.every(({ id }) => id !== now.id) !== false ? [now] : []),
  ];
  const member = assignment?.member ?? null;
  const agent = assignment?.agent ?? null;
  return (
    <>
      <LabeledFact name={editTexts.assign}>
        <FactSelect
          label={editTexts.assign}
          value={member?.id ?? ''}
          onChoose={(id) => void assign({ memberId: id === '' ? null : id })}
          options={people(members.data, member)}
        />
      </LabeledFact>
      {((agents.data?.length ?? 0) > 0 || agent !== null) && (
        <LabeledFact name={storyTexts.agent}>
          <FactSelect
            label={storyTexts.agent}
            value={agent?.id ?? ''}
            onChoose={(id) => void assign({ agentId: id === '' ? null : id })}
            options={people(agents.data, agent)}
          />
        </LabeledFact>
      )}
    </>
  );
}

function EpicFact({ edits, projectKey }: { readonly edits: StoryEdits; readonly projectKey: string }) {
  const { displayedRecord, save } = edits;
  const epics = useQuery(epicsQuery(useClient(), projectKey));
  const epicName = (id: string | null): string =>
    id === null ? editTexts.noEpic : (epics.data?.find((epic) => epic.id === id)?.title ?? storyTexts.epic);
  return (
    <EditableFact name={storyTexts.epic} field="epicId" edits={edits} formatValue={epicName}>
      <FactSelect
        label={storyTexts.epic}
        value={displayedRecord.epicId ?? ''}
        onChoose={(id) => void save({ epicId: id === '' ? null : id })}
        options={[
          { id: '', name: editTexts.noEpic },
          ...(epics.data ?? [])
            .filter(({ id, status }) => status === 'open' || id === displayedRecord.epicId)
            .map(({ id, title }) => ({ id, name: title })),
          ...(epics.data === undefined && displayedRecord.epicId !== null
            ? [{ id: displayedRecord.epicId, name: storyTexts.epic }]
            : []),
        ]}
      />
    </EditableFact>
  );
}

interface EditableFactsProps {
  readonly edits: StoryEdits;
  readonly assignment: Assignment | null;
}

export function EditableFacts({ edits, assignment }: EditableFactsProps) {
  const { displayedRecord, save } = edits;
  const projectKey = projectKeyOf(displayedRecord.key);
  const priorities = toSelectOptions(t.priority);
  return (
    <>
      <EditableFact
        name={editTexts.status}
        field="status"
        edits={edits}
        formatValue={(value) => t.status[value]}
      >
        <FactSelect
          label={editTexts.status}
          value={displayedRecord.status}
          onChoose={(next) => void save({ status: next as Story['status'] })}
          options={toSelectOptions(t.status)}
        />
      </EditableFact>
      <AssigneeFact story={displayedRecord} assignment={assignment} />
      <EditableFact
        name={t.filter.priority}
        field="priority"
        edits={edits}
        formatValue={(value) => t.priority[value]}
      >
        <FactSelect
          label={t.filter.priority}
          value={displayedRecord.priority}
          onChoose={(next) => void save({ priority: next as Story['priority'] })}
          options={priorities}
        />
      </EditableFact>
      <EpicFact edits={edits} projectKey={projectKey} />
      <EditableFact
        name={storyTexts.estimate}
        field="estimate"
        edits={edits}
        formatValue={(value) => value?.toLocaleString() ?? editTexts.noEstimate}
      >
        <EstimateInput edits={edits} />
      </EditableFact>
      <EditableFact
        name={editTexts.labels}
        field="labels"
        edits={edits}
        formatValue={(labels) => (labels.length === 0 ? t.met.nothing : labels.join(', '))}
      >
        <LabelEditor edits={edits} projectKey={projectKey} />
      </EditableFact>
      <EditableDueDate edits={edits} />
      <EditableParent edits={edits} />
      <EditableBlockers edits={edits} />
      <EditableBlockReason edits={edits} />
      <EditableTouches edits={edits} />
    </>
  );
}
