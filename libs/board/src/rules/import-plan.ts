/**
 * Decides what imports.put does with each of its items. The functions of this file neither read nor write
 * data.
 */
import { type ImportResult, type StoryStatus } from '@muster/contract';
import { type CurrentRecord, type ImportedState, decideMerge } from './import-merge.ts';

export type ImportIssue = ImportResult['issues'][number];

interface ColumnAndStatus {
  readonly column: object | null;
  readonly status: StoryStatus;
}

/** An item with what is known about it. */
export interface ImportCandidate {
  readonly externalId: string;
  /** The hash of the item's current content in the source. */
  readonly hash: Buffer;
  readonly noted: ImportedState | undefined;
  /** The stored story; undefined if the item never had one, or if it was deleted. */
  readonly story: (CurrentRecord & { readonly id: string }) | undefined;
  /** Null if the item names no place, or a place that the board does not have. */
  readonly place: ColumnAndStatus | null;
  /** The problem of an item that names a place which the board does not have. */
  readonly refused: ImportIssue | undefined;
  /** Returns the gates that keep the story from the status of its new place. */
  readonly findUnmetGateNames: () => readonly string[];
}

export type PlannedChange =
  | { readonly kind: 'create' | 'update' | 'unchanged' }
  | { readonly kind: 'kept' | 'refused' | 'duplicate'; readonly issue: ImportIssue };

const keptMessages = {
  changed: 'The story was changed in Muster since the last import.',
  deleted: 'The story was deleted in Muster.',
  worked_on: 'The story is being worked on in Muster.',
} as const;

const toChangeWithIssue = <Kind extends 'kept' | 'refused' | 'duplicate'>(
  kind: Kind,
  path: string,
  message: string,
) => ({
  kind,
  issue: { path, message },
});

/**
 * Decides what to do with each item of a put. `theirs` lets the source win over local changes. `first` is the
 * place of a new story whose item names no place.
 */
export function planImport<Item extends ImportCandidate>(
  candidates: readonly Item[],
  {
    theirs: sourceWins,
    first: defaultPosition,
  }: { readonly theirs: boolean; readonly first: ColumnAndStatus },
): (readonly [Item, PlannedChange])[] {
  const seen = new Set<string>();
  const updated = new Set<string>();
  const changeFor = ({
    externalId,
    hash,
    noted,
    story,
    place,
    refused,
    findUnmetGateNames,
  }: Item): PlannedChange => {
    if (seen.has(externalId))
      return toChangeWithIssue(
        'duplicate',
        'externalId',
        'An earlier item in this call has the same externalId.',
      );
    seen.add(externalId);
    const verdict = decideMerge(noted, story, hash, sourceWins);
    if (verdict.kind === 'unchanged') return verdict;
    if (verdict.kind === 'keep')
      return toChangeWithIssue('kept', 'externalId', keptMessages[verdict.because]);
    if (story !== undefined && updated.has(story.id))
      return toChangeWithIssue('kept', 'externalId', 'An earlier item was imported as the same story.');
    if (refused !== undefined) return { kind: 'refused', issue: refused };
    if (verdict.kind === 'create' || story === undefined) {
      const { column, status } = place ?? defaultPosition;
      return column === null && status !== 'canceled'
        ? toChangeWithIssue('refused', 'status', 'The board has no column with status backlog.')
        : { kind: 'create' };
    }
    const gates = findUnmetGateNames();
    if (gates.length > 0)
      return toChangeWithIssue(
        'kept',
        'status',
        `The policy does not allow this status yet; unmet: ${gates.join(', ')}.`,
      );
    updated.add(story.id);
    return { kind: 'update' };
  };
  return candidates.map((candidate) => [candidate, changeFor(candidate)]);
}
