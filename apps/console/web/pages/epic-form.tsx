/** A form that edits an epic inline. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Epic } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { type Edits, useEdits } from '../data/edits.ts';
import { EditConflict } from '../components/met.tsx';
import { notify, errorText } from '../components/notices.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { exactDay, t } from '../messages/index.ts';
import { viewTexts } from '../messages/views.ts';

export type EpicEdits = Edits<Epic>;

export function useEpicEdits(epic: Epic, projectKey: string): EpicEdits {
  const { epics } = useClient();
  const queries = useQueryClient();
  const { id: epicId, title } = epic;
  return useEdits(epic, {
    read: async () => {
      for await (const one of epics.list.all({ projectId: projectKey, limit: 200 }))
        if (one.id === epicId) return one;
      // The epic was deleted. Returning the old epic repeats the write, which then fails with the reason.
      return epic;
    },
    write: (fields, expectedVersion) => epics.update({ epicId, ...fields, expectedVersion }),
    after: () => queries.invalidateQueries({ queryKey: ['epics', projectKey] }),
    onFailure: (error) => notify({ tone: 'bad', title: viewTexts.epics.failed, body: errorText(error) }),
    onUnseen: (_, saveMine) =>
      notify({
        ...{ tone: 'warn', title: t.met.title(title) },
        acts: [
          { name: t.move.keepTheirs, run: () => undefined, isMain: true },
          { name: t.met.saveMine, run: saveMine },
        ],
      }),
  });
}

const fields = ['title', 'description', 'targetDate', 'color'] as const;
type Field = (typeof fields)[number];
type Values = Pick<Epic, Field>;
const noColor = '#808080';

const fieldText = (field: Field, value: Epic[Field]): string =>
  value === null ? t.met.nothing : field === 'targetDate' ? exactDay(value) : value;

const EpicFields = ({
  mine,
  set,
}: {
  readonly mine: Values;
  readonly set: (change: Partial<Values>) => void;
}) => (
  <>
    <label className="label">
      {viewTexts.epics.name}
      <input
        className="field"
        required
        autoFocus
        maxLength={300}
        value={mine.title}
        onChange={({ target }) => set({ title: target.value })}
      />
    </label>
    <label className="label">
      {viewTexts.epics.description}
      <textarea
        className="field"
        rows={3}
        maxLength={20_000}
        value={mine.description ?? ''}
        onChange={({ target }) => set({ description: target.value || null })}
      />
    </label>
    <div className="form-row">
      <label className="label">
        {viewTexts.epics.target}
        <input
          className="field"
          type="date"
          value={mine.targetDate ?? ''}
          onChange={({ target }) => set({ targetDate: target.value === '' ? null : target.value })}
        />
      </label>
      <div className="label">
        <label className="switch">
          <input
            type="checkbox"
            checked={mine.color !== null}
            onChange={({ target }) => set({ color: target.checked ? noColor : null })}
          />
          {viewTexts.epics.hasColor}
        </label>
        {mine.color !== null && (
          <input
            className="field epic-color"
            type="color"
            aria-label={viewTexts.epics.color}
            value={mine.color}
            onChange={({ target }) => set({ color: target.value })}
          />
        )}
      </div>
    </div>
  </>
);

export function EpicForm({ edits, onClose }: { readonly edits: EpicEdits; readonly onClose: () => void }) {
  const { shown, meetings, save, keepTheirs } = edits;
  const [base, setBase] = useState(shown);
  const [mine, setMine] = useState<Values>(() => {
    const { title, description, targetDate, color } = shown;
    return { title, description, targetDate, color };
  });
  const set = (change: Partial<Values>): void => setMine((last) => ({ ...last, ...change }));
  const met = fields.map((field) => meetings[field]).find((one) => one !== undefined);
  const differing = fields.filter((field) => mine[field] !== base[field]);
  const askFirst = useLeaveConfirmation(differing.length > 0);
  const send = async (): Promise<void> => {
    const patch = Object.fromEntries(differing.map((field) => [field, mine[field]])) as Partial<Epic>;
    if (differing.length === 0 || (await save(patch, base))) onClose();
  };
  const close = (): void => {
    keepTheirs(...fields);
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
      <EpicFields mine={mine} set={set} />
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
            <EditConflict
              key={field}
              name={viewTexts.epics.fields[field]}
              theirs={fieldText(field, met.theirs[field])}
              mine={fieldText(field, mine[field])}
              onTheirs={() => {
                // Keep the reader's changes of the other fields, now based on the other person's version.
                set({ [field]: met.theirs[field] });
                setBase(met.theirs);
                keepTheirs(...fields);
              }}
              onMine={() => void send()}
            />
          ))
      )}
    </form>
  );
}
