import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type BoardColumn } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { Icon, StatusIcon } from '../components/icons.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { t } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import {
  SelectField,
  Form,
  ListItem,
  FormField,
  QueryList,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { columnsQuery } from './queries.ts';

type Status = BoardColumn['status'];
type ColumnWithStoryCount = BoardColumn & { readonly storyCount: number };
const { canceled: _, ...statusNames } = t.status;

function NewColumnForm({ projectId, onClose }: { readonly projectId: string; readonly onClose: () => void }) {
  const { boardColumns } = useClient();
  const [name, setName] = useState('');
  const [status, setStatus] = useState<Status>('ready');
  const { isBusy, run } = useSettingsWrite();
  const make = async (): Promise<boolean> => {
    const isDone = await run(() => boardColumns.create({ projectId, name, status }));
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form submitLabel={texts.columns.make} isBusy={isBusy} onSubmit={make} onCancel={onClose}>
      <div className="form-row">
        <FormField name={texts.name}>
          <input
            className="field"
            required
            autoFocus
            maxLength={80}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </FormField>
        <SelectField
          label={texts.columns.status}
          value={status}
          optionLabels={statusNames}
          onChange={setStatus}
        />
      </div>
    </Form>
  );
}

interface ColumnRowProps {
  readonly column: ColumnWithStoryCount;
  readonly all: readonly ColumnWithStoryCount[];
  /** The shared write of all actions of the column, which runs one at a time. */
  readonly write: ReturnType<typeof useSettingsWrite>;
}

/** Edits the name and the limit of a column, saved together. */
function ColumnFields({ column, write: { isBusy, run } }: Omit<ColumnRowProps, 'all'>) {
  const { boardColumns } = useClient();
  const { id: columnId, name, wipLimit, version } = column;
  const limit = wipLimit === null ? '' : String(wipLimit);
  /**
   * The fields that the reader has changed and not yet saved. The form shows the server's value for all other
   * fields.
   */
  const [typed, setTyped] = useState<{ readonly name?: string; readonly limit?: string }>({});
  const { name: typedName, limit: typedLimit } = { name, limit, ...typed };
  const isDirty = typedName !== name || typedLimit !== limit;
  useLeaveConfirmation(isDirty);
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
        aria-label={`${texts.name}: ${name}`}
        maxLength={80}
        value={typedName}
        onChange={({ target }) => setTyped({ ...typed, name: target.value })}
      />
      <input
        className="field"
        type="number"
        min={1}
        max={10_000}
        aria-label={`${texts.columns.limit}: ${name}`}
        placeholder={texts.columns.noLimit}
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
          {texts.save}
          <span className="sr-only"> {name}</span>
        </button>
      )}
    </span>
  );
}

/** Moves a column to the left or right. */
function ColumnMoveButtons({ column, all, write: { isBusy, run } }: ColumnRowProps) {
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
        aria-label={texts.columns.left(name)}
        disabled={isBusy || at === 0}
        onClick={move(-1)}
      >
        <Icon name="back" />
      </button>
      <button
        type="button"
        className="icon-button turned"
        aria-label={texts.columns.right(name)}
        disabled={isBusy || at === all.length - 1}
        onClick={move(1)}
      >
        <Icon name="back" />
      </button>
    </>
  );
}

/** Archives a column; its stories move to another column. */
function ArchiveColumnButton({ column, all, write: { run } }: ColumnRowProps) {
  const { boardColumns } = useClient();
  const { id: columnId, name, status, storyCount } = column;
  const [target, setTarget] = useState('');
  const others = all.filter(({ id }) => id !== columnId);
  const moveTo = target === '' ? (others.find((one) => one.status === status) ?? others[0])?.id : target;
  return (
    <ConfirmButton
      actionLabel={texts.remove}
      subject={name}
      title={texts.columns.archiveTitle(name)}
      explanation={storyCount === 0 ? '' : texts.columns.archiveWhy}
      onConfirm={() =>
        run(() =>
          boardColumns.archive({
            columnId,
            ...(storyCount > 0 && moveTo !== undefined && { moveStoriesToColumnId: moveTo }),
          }),
        )
      }
    >
      {storyCount > 0 && (
        <SelectField
          label={texts.columns.archiveWhy}
          isHidden
          value={moveTo ?? ''}
          optionLabels={Object.fromEntries(others.map((one) => [one.id, one.name]))}
          onChange={setTarget}
        />
      )}
    </ConfirmButton>
  );
}

function ColumnRow({ column, all }: Omit<ColumnRowProps, 'write'>) {
  const write = useSettingsWrite();
  const { status, storyCount } = column;
  return (
    <ListItem
      leadingElement={<StatusIcon status={status} />}
      title={<ColumnFields column={column} write={write} />}
      details={`${statusNames[status]} · ${texts.columns.stories(storyCount)}`}
    >
      <ColumnMoveButtons column={column} all={all} write={write} />
      <ArchiveColumnButton column={column} all={all} write={write} />
    </ListItem>
  );
}

export function ColumnSettings({ projectId }: { readonly projectId: string }) {
  const [isMaking, setMaking] = useState(false);
  const columns = useQuery(columnsQuery(useClient(), projectId));
  const all = columns.data ?? [];
  return (
    <Section
      id="columns"
      title={texts.sections.columns}
      intro={texts.columns.intro}
      headerAction={!isMaking && <OpenFormButton name={texts.columns.make} onOpen={() => setMaking(true)} />}
    >
      {isMaking && <NewColumnForm projectId={projectId} onClose={() => setMaking(false)} />}
      <QueryList query={columns} emptyTitle="">
        {(column) => <ColumnRow key={column.id} column={column} all={all} />}
      </QueryList>
    </Section>
  );
}
