import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type BoardColumn } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { Icon, StatusIcon } from '../components/icons.tsx';
import { useAskBeforeLeaving } from '../components/leaving.ts';
import { t } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { Choice, Form, Item, Label, Listed, Opener, Section, useWrite } from './components.tsx';
import { columnsQuery } from './queries.ts';

type Status = BoardColumn['status'];
type Counted = BoardColumn & { readonly storyCount: number };
const { canceled: _, ...statuses } = t.status;

function Make({ projectId, onClose }: { readonly projectId: string; readonly onClose: () => void }) {
  const { boardColumns } = useClient();
  const [name, setName] = useState('');
  const [status, setStatus] = useState<Status>('ready');
  const { isBusy, run } = useWrite();
  const make = async (): Promise<boolean> => {
    const isDone = await run(() => boardColumns.create({ projectId, name, status }));
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form act={s.columns.make} isBusy={isBusy} onSubmit={make} onCancel={onClose}>
      <div className="form-row">
        <Label name={s.name}>
          <input
            className="field"
            required
            autoFocus
            maxLength={80}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </Label>
        <Choice label={s.columns.status} value={status} words={statuses} onChange={setStatus} />
      </div>
    </Form>
  );
}

interface OneProps {
  readonly column: Counted;
  readonly all: readonly Counted[];
  /** The shared write of all actions of the column, which runs one at a time. */
  readonly write: ReturnType<typeof useWrite>;
}

/** Edits the name and the limit of a column, saved together. */
function Words({ column, write: { isBusy, run } }: Omit<OneProps, 'all'>) {
  const { boardColumns } = useClient();
  const { id: columnId, name, wipLimit, version } = column;
  const limit = wipLimit === null ? '' : String(wipLimit);
  /** Fields that were changed here and are not saved yet. All others follow the server. */
  const [typed, setTyped] = useState<{ readonly name?: string; readonly limit?: string }>({});
  const { name: typedName, limit: typedLimit } = { name, limit, ...typed };
  const isDirty = typedName !== name || typedLimit !== limit;
  useAskBeforeLeaving(isDirty);
  const save = async (): Promise<void> => {
    const isDone = await run(() =>
      boardColumns.update({
        ...{ columnId, name: typedName, wipLimit: typedLimit === '' ? null : Number(typedLimit) },
        expectedVersion: version,
      }),
    );
    if (isDone) setTyped((last) => (last === typed ? {} : last));
  };
  return (
    <span className="column-edit">
      <input
        className="field"
        aria-label={`${s.name}: ${name}`}
        maxLength={80}
        value={typedName}
        onChange={({ target }) => setTyped({ ...typed, name: target.value })}
      />
      <input
        className="field"
        type="number"
        min={1}
        max={10_000}
        aria-label={`${s.columns.limit}: ${name}`}
        placeholder={`${s.columns.limit}: ${s.columns.noLimit}`}
        value={typedLimit}
        onChange={({ target }) => setTyped({ ...typed, limit: target.value })}
      />
      {isDirty && (
        <button
          type="button"
          className="button"
          data-kind="main"
          disabled={isBusy}
          onClick={() => void save()}
        >
          {s.save}
          <span className="sr-only"> {name}</span>
        </button>
      )}
    </span>
  );
}

/** Moves a column to the left or right. */
function Moves({ column, all, write: { isBusy, run } }: OneProps) {
  const { boardColumns } = useClient();
  const { id: columnId, projectId, name } = column;
  const at = all.findIndex(({ id }) => id === columnId);
  const move = (by: number) => () => {
    const columnIds = all.map(({ id }) => id).filter((id) => id !== columnId);
    columnIds.splice(at + by, 0, columnId);
    void run(() => boardColumns.reorder({ projectId, columnIds }));
  };
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={s.columns.left(name)}
        disabled={isBusy || at === 0}
        onClick={move(-1)}
      >
        <Icon name="back" />
      </button>
      <button
        type="button"
        className="icon-button turned"
        aria-label={s.columns.right(name)}
        disabled={isBusy || at === all.length - 1}
        onClick={move(1)}
      >
        <Icon name="back" />
      </button>
    </>
  );
}

/** Archives a column; its stories move to another column. */
function Archive({ column, all, write: { run } }: OneProps) {
  const { boardColumns } = useClient();
  const { id: columnId, name, status, storyCount } = column;
  const [target, setTarget] = useState('');
  const others = all.filter(({ id }) => id !== columnId);
  const moveTo = target === '' ? (others.find((one) => one.status === status) ?? others[0])?.id : target;
  return (
    <Ask
      act={s.remove}
      about={name}
      title={s.columns.archiveTitle(name)}
      why={storyCount === 0 ? '' : s.columns.archiveWhy}
      run={() =>
        run(() =>
          boardColumns.archive({
            columnId,
            ...(storyCount > 0 && moveTo !== undefined && { moveStoriesToColumnId: moveTo }),
          }),
        )
      }
    >
      {storyCount > 0 && (
        <Choice
          label={s.columns.archiveWhy}
          isHidden
          value={moveTo ?? ''}
          words={Object.fromEntries(others.map((one) => [one.id, one.name]))}
          onChange={setTarget}
        />
      )}
    </Ask>
  );
}

function One({ column, all }: Omit<OneProps, 'write'>) {
  const write = useWrite();
  const { status, storyCount } = column;
  return (
    <Item
      lead={<StatusIcon status={status} />}
      title={<Words column={column} write={write} />}
      fact={`${statuses[status]} · ${s.columns.stories(storyCount)}`}
    >
      <Moves column={column} all={all} write={write} />
      <Archive column={column} all={all} write={write} />
    </Item>
  );
}

export function Columns({ projectId }: { readonly projectId: string }) {
  const [isMaking, setMaking] = useState(false);
  const columns = useQuery(columnsQuery(useClient(), projectId));
  const all = columns.data ?? [];
  return (
    <Section
      id="columns"
      title={s.sections.columns}
      intro={s.columns.intro}
      act={!isMaking && <Opener name={s.columns.make} onOpen={() => setMaking(true)} />}
    >
      {isMaking && <Make projectId={projectId} onClose={() => setMaking(false)} />}
      <Listed query={columns} empty="">
        {(column) => <One key={column.id} column={column} all={all} />}
      </Listed>
    </Section>
  );
}
