/** Changes several stories in one call, in the order of the board, so that they keep that order. */
import { isRefusal } from '@muster/client';
import { type StoryCard } from '@muster/contract';
import { type Board, type CardsChange, type ChangeOutcome } from '../data/boards.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { offerUndo, type UndoFailure } from '../components/undo.ts';
import { t } from '../messages/index.ts';
import { selectionTexts } from '../messages/selection.ts';

/** A story before a change, and its version after it. */
interface ChangedStory {
  readonly before: StoryCard;
  readonly version: number;
}

/** A story whose undo the API refused. */
export interface RefusedUndo {
  readonly key: string;
  readonly error: unknown;
}

/** The stories that an undo has left unchanged. */
interface NotUndone {
  /** The number of stories that someone else has changed since. */
  readonly conflicts: number;
  readonly refused: readonly RefusedUndo[];
}

/** Gives stories their former values, except those that someone else has changed since. */
type UndoChange = (board: Board, changed: readonly ChangedStory[]) => Promise<NotUndone>;

export interface BulkChange extends CardsChange {
  /** Returns the display text of the story's current value. */
  readonly currentValueOf: (card: StoryCard) => string;
  readonly newValue: string;
  readonly undo: UndoChange;
}

type FieldValues = CardsChange['set'];

/** Gives stories their former values, in one call for all that had the same. */
async function restoreFields(
  board: Board,
  changed: readonly ChangedStory[],
  formerValuesOf: (before: StoryCard) => FieldValues,
): Promise<NotUndone> {
  let conflicts = 0;
  const refused: RefusedUndo[] = [];
  for (const alike of Map.groupBy(changed, ({ before }) => JSON.stringify(formerValuesOf(before))).values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const outcomes = await board.changeMany(
      alike.map(({ before, version }) => ({ ...before, version })),
      { set: formerValuesOf(first.before), isUntouched: () => false },
    );
    for (const [index, outcome] of outcomes.entries())
      if (outcome.type === 'met') conflicts += 1;
      else if (outcome.type === 'refused')
        refused.push({ key: alike[index]?.before.key ?? '', error: outcome.error });
  }
  return { conflicts, refused };
}

const restoring =
  (formerValuesOf: (before: StoryCard) => FieldValues): UndoChange =>
  (board, changed) =>
    restoreFields(board, changed, formerValuesOf);

/** The assignees that a change has set; a kind that it left alone is undefined. */
interface SetAssignees {
  readonly member?: string | null;
  readonly agent?: string | null;
}

/** Gives stories their former assignees, if they still have those that a change has set. */
export const restoreAssignees =
  ({ member, agent }: SetAssignees): UndoChange =>
  async (board, changed) => {
    // Assignments do not change the version of a story.
    const current = await board.fetchCards(changed.map(({ before }) => before.id));
    const isStillSet = ({ before }: ChangedStory): boolean => {
      const theirs = current.find(({ id }) => id === before.id)?.assignees;
      return (
        theirs !== undefined &&
        (member === undefined || member === (theirs.member?.id ?? null)) &&
        (agent === undefined || agent === (theirs.agent?.id ?? null))
      );
    };
    const unchanged = changed.filter(isStillSet);
    const { conflicts, refused } = await restoreFields(board, unchanged, (before) => ({
      ...(member !== undefined && { assigneeId: before.assignees.member?.id ?? null }),
      ...(agent !== undefined && { agentId: before.assignees.agent?.id ?? null }),
    }));
    return { conflicts: changed.length - unchanged.length + conflicts, refused };
  };

export const createPriorityChange = (priority: StoryCard['priority']): BulkChange => ({
  set: { priority },
  isUntouched: (known, theirs) => theirs.priority === known.priority || theirs.priority === priority,
  currentValueOf: (card) => t.priority[card.priority],
  newValue: t.priority[priority],
  undo: restoring(({ priority: former }) => ({ priority: former })),
});

/** Moves the stories back from the last to the first, so that each finds the one that followed it in its place. */
const moveBack: UndoChange = async (board, changed) => {
  const formerRanks = new Map<string, string>();
  const refused: RefusedUndo[] = [];
  for (const { before, version } of changed.toSorted((one, other) =>
    one.before.rank < other.before.rank ? 1 : -1,
  ))
    try {
      await board.moveBack(before, version, formerRanks);
      formerRanks.set(before.id, before.rank);
    } catch (error) {
      if (!isRefusal(error, 'version_mismatch')) refused.push({ key: before.key, error });
    }
  return { conflicts: changed.length - formerRanks.size - refused.length, refused };
};

export function createColumnChange(board: Board, columnId: string): BulkChange {
  const nameOf = (id: string | null): string =>
    board.view().lanes.find(({ column }) => column.id === id)?.column.name ?? t.status.canceled;
  return {
    ...{ set: { columnId }, isUntouched: (known, theirs) => theirs.columnId === known.columnId },
    currentValueOf: (card) => nameOf(card.columnId),
    ...{ newValue: nameOf(columnId), undo: moveBack },
  };
}

type NameOf = (value: string | null) => string;

const createValueChange = (
  set: BulkChange['set'],
  wanted: string | null,
  read: (card: StoryCard) => string | null,
  nameOf: NameOf,
) => ({
  ...{ set, newValue: nameOf(wanted) },
  isUntouched: (known: StoryCard, theirs: StoryCard) =>
    read(theirs) === read(known) || read(theirs) === wanted,
  currentValueOf: (card: StoryCard) => nameOf(read(card)),
});

/** Changes the epic or the due date. `nameOf` returns the display text of a value. */
export const createFieldChange = (
  field: 'epicId' | 'dueDate',
  value: string | null,
  nameOf: NameOf,
): BulkChange => ({
  ...createValueChange({ [field]: value }, value, (card) => card[field], nameOf),
  undo: restoring((before) => ({ [field]: before[field] })),
});

/** Changes the assigned member or agent. */
export const createAssigneeChange = (
  kind: 'member' | 'agent',
  id: string | null,
  nameOf: NameOf,
): BulkChange => ({
  ...createValueChange(
    kind === 'member' ? { assigneeId: id } : { agentId: id },
    id,
    ({ assignees }) => assignees[kind]?.id ?? null,
    nameOf,
  ),
  undo: restoreAssignees({ [kind]: id }),
});

/** Adds or removes a label. Other labels may change at the same time without a conflict. */
export const createLabelChange = (label: string, isAdded: boolean): BulkChange => ({
  set: isAdded ? { addLabels: [label] } : { removeLabels: [label] },
  isUntouched: () => true,
  currentValueOf: ({ labels }) => labels.join(', '),
  newValue: label,
  undo: restoring(() => (isAdded ? { removeLabels: [label] } : { addLabels: [label] })),
});

/** Changes the status. Each story moves to the first column of its project with that status. */
export const createStatusChange = (status: StoryCard['status']): BulkChange => ({
  set: { status },
  isUntouched: (known, theirs) => theirs.status === known.status || theirs.status === status,
  currentValueOf: (card) => t.status[card.status],
  ...{ newValue: t.status[status], undo: moveBack },
});

/** Says which stories an undo has left unchanged, and why. */
export function undoFailureOf(count: number, { conflicts, refused }: NotUndone): UndoFailure | undefined {
  const failures = conflicts + refused.length;
  if (failures === 0) return undefined;
  if (count === 1)
    return { isPartial: false, reason: conflicts > 0 ? t.undo.conflict : errorText(refused[0]?.error) };
  const byReason = Map.groupBy(refused, ({ error }) => errorText(error));
  const reasons = [...byReason].map(([reason, alike]) =>
    selectionTexts.undoRefused(
      alike.map(({ key }) => key),
      reason,
    ),
  );
  return {
    isPartial: failures < count,
    reason: [...(conflicts > 0 ? [selectionTexts.notUndone(conflicts)] : []), ...reasons].join(' '),
  };
}

/** Offers to undo a change of stories. Returns false if nothing was changed. */
export function offerToUndo(
  board: Board,
  cards: readonly StoryCard[],
  outcomes: readonly ChangeOutcome[],
  { newValue, undo }: Pick<BulkChange, 'newValue' | 'undo'>,
): boolean {
  const changed = cards.flatMap((before, index): ChangedStory[] => {
    const outcome = outcomes[index];
    return outcome?.type === 'changed' && outcome.version !== undefined
      ? [{ before, version: outcome.version }]
      : [];
  });
  const [first] = changed;
  if (first === undefined) return false;
  const { key } = first.before;
  offerUndo({
    ...(cards.length === 1
      ? { key, title: t.move.set(key, newValue) }
      : { key: selectionTexts.stories(changed.length), title: t.select.done(changed.length) }),
    undo: async () => undoFailureOf(changed.length, await undo(board, changed)),
  });
  return true;
}

/**
 * Applies the change to the cards. Stories that could not be changed stay selected and are named, each with
 * the conflicting value next to the wanted one.
 */
export async function applyBulkChange(
  board: Board,
  cards: readonly StoryCard[],
  change: BulkChange,
  selectCards: (ids: ReadonlySet<string>) => void,
): Promise<void> {
  const refused: StoryCard[] = [];
  const met: StoryCard[] = [];
  let reason: unknown;
  const outcomes = await board.changeMany(cards, change);
  for (const [index, card] of cards.entries()) {
    const outcome = outcomes[index];
    if (outcome?.type === 'met') met.push(outcome.theirs);
    if (outcome?.type !== 'refused') continue;
    refused.push(card);
    reason = outcome.error;
  }
  selectCards(new Set([...refused, ...met].map(({ id }) => id)));
  if (refused.length > 0)
    showNotice({
      ...{ tone: 'bad', title: t.select.failed(refused.map(({ key }) => key).join(', ')) },
      body: errorText(reason),
    });
  if (met.length > 0)
    showNotice({
      ...{ tone: 'warn', title: t.select.met(met.length) },
      body: t.select.theirs(
        met.map((card) => [card.key, change.currentValueOf(card)]),
        change.newValue,
      ),
      actions: [
        { name: t.move.keepTheirs, run: () => undefined, isMain: true },
        { name: t.select.anyway, run: () => void applyBulkChange(board, met, change, selectCards) },
      ],
    });
  if (!offerToUndo(board, cards, outcomes, change) && refused.length + met.length === 0)
    showNotice({ tone: 'good', title: t.select.done(cards.length) });
}
