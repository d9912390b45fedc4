/**
 * Finds or creates the epics of a call of imports.put. A new epic is created together with the first story
 * that names it.
 */
import { type ImportItem } from '@muster/contract';
import { epics } from '../../data/epics.ts';
import { lockEpics } from '../../data/import-board.ts';
import { importItemKey, type ImportedItem } from '../../data/imports.ts';
import { hashFields } from '../../rules/import-merge.ts';
import { type ImportBatch } from './import-batch.ts';

type ItemEpic = NonNullable<ImportItem['epic']>;

export interface ImportedEpics {
  /**
   * Returns the ID of an item's epic, and creates the epic if necessary. Returns null if the epic was deleted
   * in Muster.
   */
  readonly findOrCreateEpicId: (epic: ItemEpic) => string | null;
  readonly getImportedItems: () => readonly ImportedItem[];
}

export async function loadImportedEpics(
  { db, at, current, noted }: ImportBatch,
  items: readonly ImportItem[],
): Promise<ImportedEpics> {
  const known = items.flatMap(({ epic }) =>
    epic === undefined ? [] : (noted.get(importItemKey('epic', epic.externalId))?.record_id ?? []),
  );
  const there = await lockEpics(db, [...new Set(known)]);
  const found = new Map<string, string | null>();
  const notes: ImportedItem[] = [];

  const find = ({ externalId, ...said }: ItemEpic): string | null => {
    const item = noted.get(importItemKey('epic', externalId));
    const hash = hashFields(Object.values(said));
    const note = (recordId: string, version: number, isMade: boolean): void => {
      notes.push({ kind: 'epic', externalId, recordId, isMade, hash, version, blockedBy: [], parent: null });
    };
    if (item === undefined) {
      const made = epics.make({ projectId: current.project_id, ...said }, at);
      db.deferToCommit(epics.insert(made));
      note(made.id, made.version, true);
      return made.id;
    }
    const epic = there.get(item.record_id);
    if (epic === undefined) return null;
    const isNew = item.source_hash?.equals(hash) !== true;
    if (isNew && epic.version === item.record_version) {
      const { changed } = epics.change(db, epic, said, at);
      note(epic.id, changed.version, false);
    }
    return epic.id;
  };
  return {
    findOrCreateEpicId: (epic) => {
      const before = found.get(epic.externalId);
      if (before !== undefined) return before;
      const id = find(epic);
      found.set(epic.externalId, id);
      return id;
    },
    getImportedItems: () => notes,
  };
}
