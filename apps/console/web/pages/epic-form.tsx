/** A form that edits an epic inline. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Epic } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { type Edits, useEdits } from '../data/edits.ts';
import { EditConflictNotice } from '../components/met.tsx';
import { showNotice, errorText } from '../components/notices.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { submitFocusedForm, TextEditor } from '../editor/text-editor.tsx';
import { formatDay, t } from '../messages/index.ts';
import { viewTexts } from '../messages/views.ts';

export type EpicEdits = Edits<Epic>;

export function useEpicEdits(epic: Epic, projectKey: string): EpicEdits {
  const { epics } = useClient();
  const queries = useQueryClient();
  const { id: epicId, title } = epic;
  return useEdits(epic, {
    fetchRecord: async () => {
      for await (const one of epics.list.all({ projectId: projectKey, limit: 200 }))
        if (one.id === epicId) return one;
      // The epic was deleted. Returning the old epic repeats the write, which then fails with the reason.
      return epic;
    },
    sendPatch: (fields, expectedVersion) => epics.update({ epicId, ...fields, expectedVersion }),
    refetchAll: () => queries.invalidateQueries({ queryKey: ['epics'] }),
    onFailure: (error) => showNotice({ tone: 'bad', title: viewTexts.epics.failed, body: errorText(error) }),
    onUnseenConflict: (_, saveMine) =>
      showNotice({
        ...{ tone: 'warn', title: t.met.title(title) },
        actions: [
          { name: t.move.keepTheirs, run: () => undefined, isMain: true },
          { name: t.met.saveMine, run: saveMine },
        ],
      }),
  });
}

const editableFields = ['title', 'description', 'targetDate', 'color'] as const;
type EpicField = (typeof editableFields)[number];
type EpicFieldValues = Pick<Epic, EpicField>;
const defaultColor = '#808080';

const formatFieldValue = (field: EpicField, value: Epic[EpicField]): string =>
  value === null ? t.met.nothing : field === 'targetDate' ? formatDay(value) : value;

interface EpicFieldsProps {
  readonly values: EpicFieldValues;
  readonly projectKey: string;
  readonly changeValues: (change: Partial<EpicFieldValues>) => void;
}

const EpicFields = ({ values, projectKey, changeValues }: EpicFieldsProps) => (
  <>
    <label className="label">
      {viewTexts.epics.name}
      <input
        className="field"
        required
        autoFocus
        maxLength={300}
        value={values.title}
        onChange={({ target }) => changeValues({ title: target.value })}
      />
    </label>
    <div className="label">
      <span>{viewTexts.epics.description}</span>
      <TextEditor
        kind="text"
        label={viewTexts.epics.description}
        text={values.description ?? ''}
        maxLength={20_000}
        projectKey={projectKey}
        rows={3}
        takesFocus={false}
        onTextChange={(description) => changeValues({ description: description || null })}
        onSubmit={submitFocusedForm}
      />
    </div>
    <div className="form-row">
      <label className="label">
        {viewTexts.epics.target}
        <input
          className="field"
          type="date"
          value={values.targetDate ?? ''}
          onChange={({ target }) => changeValues({ targetDate: target.value === '' ? null : target.value })}
        />
      </label>
      <div className="label">
        <label className="switch">
          <input
            type="checkbox"
            checked={values.color !== null}
            onChange={({ target }) => changeValues({ color: target.checked ? defaultColor : null })}
          />
          {viewTexts.epics.hasColor}
        </label>
        {values.color !== null && (
          <input
            className="field epic-color"
            type="color"
            aria-label={viewTexts.epics.color}
            value={values.color}
            onChange={({ target }) => changeValues({ color: target.value })}
          />
        )}
      </div>
    </div>
  </>
);

interface EpicFormProps {
  readonly edits: EpicEdits;
  readonly projectKey: string;
  readonly onClose: () => void;
}

export function EpicForm({ edits, projectKey, onClose }: EpicFormProps) {
  const { displayedRecord, conflicts, save, keepTheirs } = edits;
  const [base, setBase] = useState(displayedRecord);
  const [mine, setMine] = useState<EpicFieldValues>(() => {
    const { title, description, targetDate, color } = displayedRecord;
    return { title, description, targetDate, color };
  });
  const set = (change: Partial<EpicFieldValues>): void => setMine((last) => ({ ...last, ...change }));
  const met = editableFields.map((field) => conflicts[field]).find((one) => one !== undefined);
  const differing = editableFields.filter((field) => mine[field] !== base[field]);
  const askFirst = useLeaveConfirmation(differing.length > 0);
  const send = async (): Promise<void> => {
    const patch = Object.fromEntries(differing.map((field) => [field, mine[field]])) as Partial<Epic>;
    if (differing.length === 0 || (await save(patch, base))) onClose();
  };
  const close = (): void => {
    keepTheirs(...editableFields);
    onClose();
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <EpicFields values={mine} projectKey={projectKey} changeValues={set} />
      {met === undefined ? (
        <div className="form-foot">
          <button type="submit" className="button" data-kind="main">
            {viewTexts.epics.save}
          </button>
          <button type="button" className="button" onClick={() => askFirst(close)}>
            {t.cancel}
          </button>
        </div>
      ) : (
        differing
          .filter((field) => met.theirs[field] !== base[field])
          .map((field) => (
            <EditConflictNotice
              key={field}
              name={viewTexts.epics.fields[field]}
              theirValue={formatFieldValue(field, met.theirs[field])}
              ownValue={formatFieldValue(field, mine[field])}
              onKeepTheirs={() => {
                // Keep the reader's changes of the other fields, now based on the other person's version.
                set({ [field]: met.theirs[field] });
                setBase(met.theirs);
                keepTheirs(...editableFields);
              }}
              onSaveMine={() => void send()}
            />
          ))
      )}
    </form>
  );
}
