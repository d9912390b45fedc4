/** Decides which imported stories get the parents that their items name. Stories nest one level deep. */

export interface ParentCandidate {
  readonly externalId: string;
  /** The external ID of the named parent. */
  readonly parent: string;
  readonly storyId: string;
  readonly currentParentId: string | null;
  /** True if no one has changed the story since the import put it. */
  readonly isUnchanged: boolean;
  /** The ID of the parent's story; null if no item with the external ID `parent` was imported. */
  readonly parentId: string | null;
  readonly parentOfParent: string | null;
  readonly hasChildren: boolean;
}

export interface NewParent {
  readonly storyId: string;
  readonly parentId: string;
}

interface SkippedParent {
  readonly externalId: string;
  readonly parent: string;
  readonly reason: string;
}

/** Returns the parents to set, in the given order, and the ones that are skipped with the reason. */
export function planParents(candidates: readonly ParentCandidate[]): {
  readonly added: readonly NewParent[];
  readonly skipped: readonly SkippedParent[];
} {
  const added = new Map<string, string>();
  const parents = new Set<string>();
  const skipped: SkippedParent[] = [];
  for (const { externalId, parent, storyId, parentId, currentParentId, ...state } of candidates) {
    const skip = (reason: string): number => skipped.push({ externalId, parent, reason });
    if (parentId === null) skip('No imported item of this provider has this id.');
    else if (parentId === currentParentId) continue;
    else if (currentParentId !== null && !state.isUnchanged)
      skip('The story was given another parent in Muster.');
    else if (
      parentId === storyId ||
      state.parentOfParent !== null ||
      state.hasChildren ||
      added.has(parentId) ||
      parents.has(storyId)
    )
      skip('Stories nest one level deep.');
    else {
      added.set(storyId, parentId);
      parents.add(parentId);
    }
  }
  return { added: [...added].map(([storyId, parentId]) => ({ storyId, parentId })), skipped };
}
