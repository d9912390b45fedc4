/** Changes several stories in one call, in the order of the board, so that they keep that order. */
import { type StoryCard } from '@muster/contract';
import { type Board, type CardsChange, type ChangeOutcome } from '../data/boards.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { offerUndo } from '../components/undo.ts';
import { t } from '../messages/index.ts';

export interface BulkChange extends CardsChange {
  /** Returns the display text of the story's current value. */
  readonly currentValueOf: (card: StoryCard) => string;
  readonly newValue: string;
  /** Gives the story its former value, if it still has this version. */
  readonly undo?: (board: Board, before: StoryCard, version: number) => Promise<unknown>;
}

/** Gives a story former values. Resolves to false if someone else has changed it since it had this version. */
async function restore(
  board: Board,
  story: StoryCard,
  version: number,
  set: CardsChange['set'],
): Promise<boolean> {
  const [outcome] = await board.changeMany([{ ...story, version }], { set, isUntouched: () => false });
  if (outcome?.type === 'refused') throw outcome.error;
  return outcome?.type !== 'met';
}

/** Gives a story its former assignees, if it still has those that a change has set. */
export async function restoreAssignees(
  board: Board,
  before: StoryCard,
  version: number,
  { member, agent }: { readonly member?: string | null; readonly agent?: string | null },
): Promise<boolean> {
  // Assignments do not change the version of a story.
  const theirs = (await board.fetchCards([before.id]))[0]?.assignees;
  const isStillSet =
    theirs !== undefined &&
    (member === undefined || member === (theirs.member?.id ?? null)) &&
    (agent === undefined || agent === (theirs.agent?.id ?? null));
  return (
    isStillSet &&
    restore(board, before, version, {
      ...(member !== undefined && { assigneeId: before.assignees.member?.id ?? null }),
      ...(agent !== undefined && { agentId: before.assignees.agent?.id ?? null }),
    })
  );
}

export const createPriorityChange = (priority: StoryCard['priority']): BulkChange => ({
  set: { priority },
  isUntouched: (known, theirs) => theirs.priority === known.priority || theirs.priority === priority,
  currentValueOf: (card) => t.priority[card.priority],
  newValue: t.priority[priority],
  undo: (board, before, version) => restore(board, before, version, { priority: before.priority }),
});

const moveBack: NonNullable<BulkChange['undo']> = (board, before, version) => board.moveBack(before, version);

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
  undo: (board, before, version) => restore(board, before, version, { [field]: before[field] }),
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
  undo: (board, before, version) => restoreAssignees(board, before, version, { [kind]: id }),
});

/** Changes the status. Each story moves to the first column of its project with that status. */
export const createStatusChange = (status: StoryCard['status']): BulkChange => ({
  set: { status },
  isUntouched: (known, theirs) => theirs.status === known.status || theirs.status === status,
  currentValueOf: (card) => t.status[card.status],
  ...{ newValue: t.status[status], undo: moveBack },
});

/** Offers to undo the change of one story. Returns false if nothing was changed. */
export function offerToUndo(
  board: Board,
  card: StoryCard,
  outcome: ChangeOutcome | undefined,
  { newValue, undo }: Pick<BulkChange, 'newValue' | 'undo'>,
): boolean {
  const version = outcome?.type === 'changed' ? outcome.version : undefined;
  if (version === undefined || undo === undefined) return false;
  offerUndo({
    ...{ key: card.key, title: t.move.set(card.key, newValue) },
    undo: () => undo(board, card, version),
  });
  return true;
}

/**
 * Applies the change to the cards. Stories that could not be changed stay selected and are named, each with
 * the conflicting value next to the wanted one. The change of a single story can be undone.
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
  if (refused.length + met.length > 0) return;
  const [card] = cards;
  const [outcome] = outcomes;
  if (cards.length !== 1 || card === undefined || !offerToUndo(board, card, outcome, change))
    showNotice({ tone: 'good', title: t.select.done(cards.length) });
}
