/** A dialog that creates a story with all of its fields. What was typed is kept until the story is created. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type InputOf, type Project, type StoryCard } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { priorityNames, statusNames } from '../board/filter.ts';
import { useClient } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { epicsQuery, projectsQuery } from '../data/queries.ts';
import { useWritableProjects } from '../data/roles.ts';
import { markUnsaved } from '../data/unsaved.ts';
import { Dialog } from '../components/dialog.tsx';
import { errorText, showNotice } from '../components/notices.tsx';
import { TextEditor } from '../editor/text-editor.tsx';
import { t } from '../messages/index.ts';
import { createStoryTexts as texts } from '../messages/create-story.ts';

interface StoryDraft {
  readonly projectKey: string;
  readonly title: string;
  readonly description: string;
  readonly status: StoryCard['status'];
  readonly priority: StoryCard['priority'];
  readonly assigneeId: string;
  readonly agentId: string;
  readonly epicId: string;
  readonly labels: string;
  readonly dueDate: string;
  readonly estimate: string;
}

const emptyDraft: StoryDraft = {
  ...{ projectKey: '', title: '', description: '', status: 'backlog', priority: 'none' },
  ...{ assigneeId: '', agentId: '', epicId: '', labels: '', dueDate: '', estimate: '' },
};

/** The draft of a story that was not created, kept as long as the window. */
let keptDraft = emptyDraft;

function toParams(draft: StoryDraft): InputOf<Registry['stories']['create']> {
  const { projectKey, title, description, status, priority, epicId, labels, dueDate, estimate } = draft;
  return {
    ...{ projectId: projectKey, title: title.trim().replaceAll(/\s+/g, ' '), status, priority },
    labels: labels
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== ''),
    ...(description.trim() !== '' && { description }),
    ...(epicId !== '' && { epicId }),
    ...(dueDate !== '' && { dueDate }),
    ...(estimate !== '' && { estimate: Number(estimate) }),
  };
}

interface FieldProps {
  readonly label: string;
  readonly children: ReactNode;
}
const Field = ({ label, children }: FieldProps) => (
  <label className="label">
    {label}
    {children}
  </label>
);

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onChange: (value: string) => void;
}
const Choice = ({ label, value, options, onChange }: ChoiceProps) => (
  <Field label={label}>
    <select className="field" value={value} onChange={({ target }) => onChange(target.value)}>
      {options.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  </Field>
);

interface DraftFieldsProps {
  readonly draft: StoryDraft;
  readonly projects: readonly Project[];
  readonly onChange: (change: Partial<StoryDraft>) => void;
}

function StoryFields({ draft, projects, onChange }: DraftFieldsProps) {
  const client = useClient();
  const members = useQuery(membersQuery(client)).data ?? [];
  const agents = useQuery(agentsQuery(client)).data ?? [];
  const { projectKey } = draft;
  const epics = useQuery({ ...epicsQuery(client, projectKey), enabled: projectKey !== '' }).data ?? [];
  const named = (list: readonly { readonly id: string; readonly name: string }[], none: string) =>
    [['', none], ...list.map(({ id, name }) => [id, name] as const)] as const;
  return (
    <div className="create-fields">
      <Choice
        label={texts.project}
        value={projectKey}
        options={projects.map(({ key, name }) => [key, `${key} ${name}`])}
        onChange={(key) => onChange({ projectKey: key, epicId: '' })}
      />
      <Choice
        label={texts.status}
        value={draft.status}
        options={statusNames.filter((one) => one !== 'canceled').map((one) => [one, t.status[one]])}
        onChange={(status) => onChange({ status: status as StoryDraft['status'] })}
      />
      <Choice
        label={texts.priority}
        value={draft.priority}
        options={priorityNames.map((one) => [one, t.priority[one]])}
        onChange={(priority) => onChange({ priority: priority as StoryDraft['priority'] })}
      />
      <Choice
        label={texts.assignee}
        value={draft.assigneeId}
        options={named(members, t.people.unassigned)}
        onChange={(assigneeId) => onChange({ assigneeId })}
      />
      <Choice
        label={texts.agent}
        value={draft.agentId}
        options={named(agents, texts.noAgent)}
        onChange={(agentId) => onChange({ agentId })}
      />
      <Choice
        label={texts.epic}
        value={draft.epicId}
        options={named(
          epics.map(({ id, title }) => ({ id, name: title })),
          texts.noEpic,
        )}
        onChange={(epicId) => onChange({ epicId })}
      />
      <Field label={texts.labels}>
        <input
          className="field"
          placeholder={texts.labelsHint}
          maxLength={1_000}
          value={draft.labels}
          onChange={({ target }) => onChange({ labels: target.value })}
        />
      </Field>
      <Field label={texts.dueDate}>
        <input
          type="date"
          className="field"
          value={draft.dueDate}
          onChange={({ target }) => onChange({ dueDate: target.value })}
        />
      </Field>
      <Field label={texts.estimate}>
        <input
          type="number"
          className="field"
          min={0}
          max={10_000}
          step="any"
          value={draft.estimate}
          onChange={({ target }) => onChange({ estimate: target.value })}
        />
      </Field>
    </div>
  );
}

/** Creates the story and assigns it. Returns false if no story was created. */
function useCreate(): (draft: StoryDraft) => Promise<boolean> {
  const client = useClient();
  return async (draft) => {
    const { assigneeId, agentId } = draft;
    let key = '';
    try {
      const { story } = await client.stories.create(toParams(draft));
      key = story.key;
      if (assigneeId !== '' || agentId !== '')
        await client.assignments.set({
          ...{ targetType: 'story', targetId: story.id },
          ...(assigneeId !== '' && { memberId: assigneeId }),
          ...(agentId !== '' && { agentId }),
        });
      showNotice({ tone: 'good', title: texts.created(key) });
    } catch (error) {
      const title = key === '' ? texts.failed : texts.notAssigned(key);
      showNotice({ tone: 'bad', title, body: errorText(error) });
    }
    return key !== '';
  };
}

interface CreateStoryProps {
  /** The project of the page; undefined on other pages. */
  readonly projectKey: string | undefined;
  readonly onClose: () => void;
}

/** Returns the projects in which the viewer may create stories. */
function useOfferedProjects(): readonly Project[] {
  const writable = useWritableProjects();
  return useQuery(projectsQuery(useClient())).data?.filter(({ key }) => writable.has(key)) ?? [];
}

/** State of the draft, which starts with what was typed before, or in the project of the page. */
function useStoryDraft(projects: readonly Project[], projectKey: string | undefined) {
  const first = projects.find(({ key }) => key === projectKey) ?? projects[0];
  const [draft, setDraft] = useState<StoryDraft>(() => ({
    ...keptDraft,
    projectKey: keptDraft.title === '' ? (first?.key ?? '') : keptDraft.projectKey,
  }));
  const isUnsaved = draft.title !== '' || draft.description !== '';
  useEffect(() => (isUnsaved ? markUnsaved() : undefined), [isUnsaved]);
  const change = (changes: Partial<StoryDraft>): void => {
    keptDraft = { ...draft, ...changes };
    setDraft(keptDraft);
  };
  return { draft, change };
}

export default function CreateStoryDialog({ projectKey, onClose }: CreateStoryProps) {
  const projects = useOfferedProjects();
  const { draft, change } = useStoryDraft(projects, projectKey);
  const [isBusy, setBusy] = useState(false);
  const [createsAnother, setCreatesAnother] = useState(false);
  const titleField = useRef<HTMLInputElement>(null);
  const create = useCreate();
  const submit = async (): Promise<void> => {
    if (isBusy || draft.title.trim() === '') return;
    setBusy(true);
    const isCreated = await create(draft);
    setBusy(false);
    if (!isCreated) return;
    // The next story usually belongs to the same project and epic.
    change({ title: '', description: '' });
    if (createsAnother) titleField.current?.focus();
    else {
      keptDraft = emptyDraft;
      onClose();
    }
  };
  return (
    <Dialog label={texts.title} onClose={onClose}>
      <form
        className="dialog-body"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
        onKeyDown={(event) => {
          // The editor of the description has already handled the key.
          if (event.defaultPrevented) return;
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void submit();
        }}
      >
        <h2>{texts.title}</h2>
        <Field label={texts.name}>
          <input
            ref={titleField}
            className="field"
            required
            autoFocus
            maxLength={300}
            value={draft.title}
            onChange={({ target }) => change({ title: target.value })}
          />
        </Field>
        <div className="label">
          <span aria-hidden>{texts.description}</span>
          <TextEditor
            kind="comment"
            rows={4}
            label={texts.description}
            hint={texts.descriptionHint}
            text={draft.description}
            maxLength={20_000}
            projectKey={draft.projectKey}
            onTextChange={(description) => change({ description })}
            onSubmit={() => void submit()}
          />
        </div>
        <StoryFields {...{ draft, projects, onChange: change }} />
        <div className="dialog-foot">
          <label className="switch grow">
            <input
              type="checkbox"
              checked={createsAnother}
              onChange={({ target }) => setCreatesAnother(target.checked)}
            />
            {texts.another}
          </label>
          <button type="button" className="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" className="button" data-kind="main" disabled={isBusy}>
            {texts.create}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
