/** The facts about a story, edited in place. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Assignment, type Story } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { epicsQuery } from '../data/queries.ts';
import { t } from '../messages/index.ts';
import { storyTexts, editTexts } from '../messages/story.ts';
import { useAssign } from './assigning.ts';
import { Blocked, Blockers } from './blocking.tsx';
import { Fact, EditableFact } from './fact.tsx';
import { Labels } from './labels.tsx';
import { type StoryEdits } from './story-edits.ts';

const FactSelect = ({
  label,
  value,
  change,
  options,
}: {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => unknown;
  readonly options: readonly { readonly id: string; readonly name: string }[];
}) => (
  <select
    className="field fact-choice"
    aria-label={label}
    value={value}
    onChange={({ target }) => change(target.value)}
  >
    {options.map(({ id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </select>
);

const optionsOf = <Value extends string>(words: Readonly<Record<Value, string>>) =>
  (Object.keys(words) as Value[]).map((id) => ({ id, name: words[id] }));

/** The estimate, saved when the field loses the focus or on Enter. */
function Estimate({ edits }: { readonly edits: StoryEdits }) {
  const { shown, save } = edits;
  const [text, setText] = useState<string | null>(null);
  const now = shown.estimate === null ? '' : String(shown.estimate);
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

function AssigneeFact({
  story,
  assignment,
}: {
  readonly story: Story;
  readonly assignment: Assignment | null;
}) {
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
      <Fact name={editTexts.assign}>
        <FactSelect
          label={editTexts.assign}
          value={member?.id ?? ''}
          change={(id) => void assign({ memberId: id === '' ? null : id })}
          options={people(members.data, member)}
        />
      </Fact>
      {((agents.data?.length ?? 0) > 0 || agent !== null) && (
        <Fact name={storyTexts.agent}>
          <FactSelect
            label={storyTexts.agent}
            value={agent?.id ?? ''}
            change={(id) => void assign({ agentId: id === '' ? null : id })}
            options={people(agents.data, agent)}
          />
        </Fact>
      )}
    </>
  );
}

export function EditableFacts({
  edits,
  assignment,
}: {
  readonly edits: StoryEdits;
  readonly assignment: Assignment | null;
}) {
  const client = useClient();
  const { shown, save } = edits;
  const [projectKey = ''] = shown.key.split('-');
  const epics = useQuery(epicsQuery(client, projectKey));
  const epicName = (id: string | null): string =>
    id === null ? editTexts.noEpic : (epics.data?.find((epic) => epic.id === id)?.title ?? storyTexts.epic);
  const priorities = optionsOf(t.priority);
  return (
    <>
      <EditableFact name={editTexts.status} field="status" edits={edits} say={(value) => t.status[value]}>
        <FactSelect
          label={editTexts.status}
          value={shown.status}
          change={(next) => void save({ status: next as Story['status'] })}
          options={optionsOf(t.status)}
        />
      </EditableFact>
      <AssigneeFact story={shown} assignment={assignment} />
      <EditableFact
        name={t.filter.priority}
        field="priority"
        edits={edits}
        say={(value) => t.priority[value]}
      >
        <FactSelect
          label={t.filter.priority}
          value={shown.priority}
          change={(next) => void save({ priority: next as Story['priority'] })}
          options={priorities}
        />
      </EditableFact>
      <EditableFact name={storyTexts.epic} field="epicId" edits={edits} say={epicName}>
        <FactSelect
          label={storyTexts.epic}
          value={shown.epicId ?? ''}
          change={(id) => void save({ epicId: id === '' ? null : id })}
          options={[
            { id: '', name: editTexts.noEpic },
            ...(epics.data ?? [])
              .filter(({ id, status }) => status === 'open' || id === shown.epicId)
              .map(({ id, title }) => ({ id, name: title })),
            ...(epics.data === undefined && shown.epicId !== null
              ? [{ id: shown.epicId, name: storyTexts.epic }]
              : []),
          ]}
        />
      </EditableFact>
      <EditableFact
        name={storyTexts.estimate}
        field="estimate"
        edits={edits}
        say={(value) => value?.toLocaleString() ?? editTexts.noEstimate}
      >
        <Estimate edits={edits} />
      </EditableFact>
      <EditableFact
        name={editTexts.labels}
        field="labels"
        edits={edits}
        say={(labels) => (labels.length === 0 ? t.met.nothing : labels.join(', '))}
      >
        <Labels edits={edits} projectKey={projectKey} />
      </EditableFact>
      <Blockers edits={edits} />
      <Blocked edits={edits} />
    </>
  );
}
