/** What is done to all selected stories at once; those that refuse stay selected, and are named. */
import { useState } from 'react';
import { type Priority } from '@muster/registry';
import { type Board } from '../data/boards.ts';
import { useClient } from '../data/context.ts';
import { type Lane } from '../data/lanes.ts';
import { notify, reasonFor } from '../parts/notices.tsx';
import { t } from '../texts/index.ts';
import { priorityNames } from './filter.ts';

export default function SelectionBar({
  board,
  lanes,
  selected,
  onSelect,
}: {
  readonly board: Board;
  readonly lanes: readonly Lane[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
}) {
  const client = useClient();
  const [isBusy, setBusy] = useState(false);
  /** In the order of the board, one after the other, so that they arrive in it. */
  const all = lanes.flatMap(({ cards }) => cards).filter(({ id }) => selected.has(id));
  const each = async (act: (card: (typeof all)[number]) => Promise<unknown>): Promise<void> => {
    setBusy(true);
    const refused: (typeof all)[number][] = [];
    let reason: unknown;
    for (const card of all) {
      try {
        await act(card);
      } catch (error) {
        refused.push(card);
        reason = error;
      }
    }
    setBusy(false);
    onSelect(new Set(refused.map(({ id }) => id)));
    if (refused.length === 0) notify({ tone: 'good', title: t.select.done(all.length) });
    else
      notify({
        ...{ tone: 'bad', title: t.select.failed(refused.map(({ key }) => key).join(', ')) },
        body: reasonFor(reason),
      });
  };
  const move = (columnId: string): Promise<void> =>
    each(async (card) => {
      const outcome = await board.move(card.id, { columnId, beforeId: null });
      if (outcome.type === 'refused') throw outcome.error;
      if (outcome.type === 'conflict') {
        board.settle();
        throw new Error(t.move.conflict(card.key));
      }
    });
  const setPriority = (priority: Priority): Promise<void> =>
    each(({ id, version }) => client.stories.update({ storyId: id, priority, expectedVersion: version }));
  return (
    <div className="selection" role="toolbar" aria-label={t.select.all}>
      <strong className="tabular">{t.select.count(all.length)}</strong>
      <select
        className="field"
        aria-label={t.select.move}
        disabled={isBusy}
        value=""
        onChange={({ target }) => void move(target.value)}
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
        onChange={({ target }) => void setPriority(target.value as Priority)}
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
