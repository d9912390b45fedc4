/** The toolbar with actions for all selected stories. */
import { useState } from 'react';
import { type Priority } from '@muster/registry';
import { type Board } from '../data/boards.ts';
import { type Lane } from '../data/lanes.ts';
import { t } from '../messages/index.ts';
import { applyBulkChange, type BulkChange, createColumnChange, createPriorityChange } from './each.ts';
import { priorityNames } from './filter.ts';

interface SelectionBarProps {
  readonly board: Board;
  readonly lanes: readonly Lane[];
  readonly selectedIds: ReadonlySet<string>;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
}

export default function SelectionBar({ board, lanes, selectedIds, onSelect }: SelectionBarProps) {
  const [isBusy, setBusy] = useState(false);
  const all = lanes.flatMap(({ cards }) => cards).filter(({ id }) => selectedIds.has(id));
  const change = async (to: BulkChange): Promise<void> => {
    setBusy(true);
    await applyBulkChange(board, all, to, onSelect);
    setBusy(false);
  };
  return (
    <div className="selection" role="toolbar" aria-label={t.select.all}>
      <strong className="tabular">{t.select.count(all.length)}</strong>
      <select
        className="field"
        aria-label={t.select.move}
        disabled={isBusy}
        value=""
        onChange={({ target }) => void change(createColumnChange(board, target.value))}
      >
        <option value="">{t.select.move}</option>
        {lanes.map(({ column }) => (
          <option key={column.id} value={column.id}>
            {column.name}
          </option>
        ))}
      </select>
      <select
        className="field"
        aria-label={t.select.priority}
        disabled={isBusy}
        value=""
        onChange={({ target }) => void change(createPriorityChange(target.value as Priority))}
      >
        <option value="">{t.select.priority}</option>
        {priorityNames.map((priority) => (
          <option key={priority} value={priority}>
            {t.priority[priority]}
          </option>
        ))}
      </select>
      <button type="button" className="button" data-kind="quiet" onClick={() => onSelect(new Set())}>
        {t.select.clear}
      </button>
    </div>
  );
}
