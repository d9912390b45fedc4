/** Reads and locks everything that a plan depends on, and resolves the references of its items. */
import { newId } from '@muster/driver';
import { isUuid, parseStoryRef, type KeptField } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type HandlerContext, pathNotFound } from '@muster/runtime';
import { findStories } from '../../data/blockers.ts';
import { notInProjectError } from '../../data/elsewhere.ts';
import { lockImportBoard } from '../../data/import-board.ts';
import { forceCustomPlans } from '../../data/imports.ts';
import {
  findOpenStories,
  findRelatedStoriesInProject,
  lockPlanStories,
  lockProjectEpics,
} from '../../data/plan-stories.ts';
import { findPlanByRef, findPlanItemsByRef, type PlanItemRow } from '../../data/plans.ts';
import { findReviewsByStoryIds } from '../../data/reviews.ts';
import { keepField } from '../../rules/plan-decisions.ts';

export type ApplyContext = HandlerContext<typeof boardRegistry.plans.apply>;

/** Locks in the common order: counters, columns, stories, epics. Calls that apply plans to one project run one after the other. */
export async function loadPlan(context: ApplyContext) {
  const { params, targetId, db, access, policy: askPolicy } = context;
  const { items, epics } = params;
  const itemRefs = new Set(items.map(({ ref }) => ref));
  const refs = items.flatMap(({ dependsOn = [], parentRef }) => [
    ...dependsOn,
    ...(parentRef ? [parentRef] : []),
  ]);
  const storyRefs = [...new Set(refs)].flatMap((ref) => {
    const storyRef = itemRefs.has(ref) ? undefined : parseStoryRef(ref);
    return storyRef === undefined ? [] : [{ ref, storyRef }];
  });
  const [{ at, projectId }, policy, board, plan, stored, found, related, openStories] = await Promise.all([
    access(),
    askPolicy(),
    lockImportBoard(db, targetId),
    findPlanByRef(db, targetId, params.planRef),
    findPlanItemsByRef(db, targetId, params.planRef),
    findStories(
      db,
      storyRefs.map(({ storyRef }) => storyRef),
    ),
    findRelatedStoriesInProject(db, targetId),
    findOpenStories(db, targetId),
    forceCustomPlans(db),
  ]);
  if (projectId === null) throw new Error('plans.apply has a project');
  const storedStories = new Map(stored.filter(({ kind }) => kind === 'story').map((row) => [row.ref, row]));
  const storedEpics = new Map(stored.filter(({ kind }) => kind === 'epic').map((row) => [row.ref, row]));
  const maybeDone = items.flatMap(({ ref, status }) =>
    status === 'done' ? (storedStories.get(ref)?.record_id ?? []) : [],
  );
  const [stories, epicRows, reviews] = await Promise.all([
    lockPlanStories(
      db,
      [...storedStories.values()].map((row) => row.record_id),
    ),
    lockProjectEpics(db, targetId),
    findReviewsByStoryIds(db, maybeDone),
  ]);
  const idsElsewhere = new Map(
    found
      .filter((story) => story.project_id === projectId)
      .map(({ ord, id }) => [storyRefs[ord - 1]?.ref, id]),
  );
  return {
    ...{ context, params, at, projectId, policy, board, plan, items, epics, itemRefs },
    ...{ storedStories, storedEpics, stories, epicRows, reviews, related, openStories },
    idsElsewhere,
  };
}
export type LoadedPlan = Awaited<ReturnType<typeof loadPlan>>;

/** A reference to a record that was deleted on the board. */
const deleted = Symbol('deleted');

/** The ids of the records that the references of an item mean; undefined where the item states none. */
export interface ItemReferences {
  readonly epicId: string | null | undefined;
  readonly parentId: string | null | undefined;
  readonly dependsOn: readonly string[] | undefined;
  /** The references to deleted records, which cannot be applied. */
  readonly kept: readonly KeptField[];
}

/** Returns the id of the story of each ref, which is a new id for a new ref. */
export const assignStoryIds = ({ items, storedStories }: LoadedPlan): ReadonlyMap<string, string> =>
  new Map([
    ...[...storedStories.values()].map(({ ref, record_id: id }) => [ref, id] as const),
    ...items.flatMap(({ ref }) => (storedStories.has(ref) ? [] : [[ref, newId()] as const])),
  ]);

/** Resolves the references of all items. Throws 404 or mismatched_project for a record that is not in the project. */
export async function resolveReferences(
  loaded: LoadedPlan,
  storyIds: ReadonlyMap<string, string>,
  epicIds: ReadonlyMap<string, string | null>,
): Promise<ReadonlyMap<string, ItemReferences>> {
  const { context, projectId, storedStories, stories, idsElsewhere, epicRows } = loaded;
  const isDeleted = (row: PlanItemRow | undefined) => row !== undefined && !stories.has(row.record_id);
  const findStory = async (ref: string, path: string): Promise<string | typeof deleted> => {
    const id = storyIds.get(ref);
    if (id !== undefined) return isDeleted(storedStories.get(ref)) ? deleted : id;
    const other = idsElsewhere.get(ref);
    if (other !== undefined) return other;
    const storyRef = parseStoryRef(ref);
    throw storyRef === undefined
      ? pathNotFound(path)
      : await notInProjectError(context, projectId, 'stories', { ref: storyRef, path });
  };
  const findEpic = async (ref: string, path: string): Promise<string | typeof deleted> => {
    const id = epicIds.get(ref);
    if (id !== undefined) return id ?? deleted;
    if (epicRows.has(ref)) return ref;
    throw isUuid(ref)
      ? await notInProjectError(context, projectId, 'epics', { ref, path })
      : pathNotFound(path);
  };

  const references = new Map<string, ItemReferences>();
  for (const [index, { ref, epicRef, parentRef, dependsOn }] of loaded.items.entries()) {
    const kept: KeptField[] = [];
    const ifThere = (field: string, id: string | typeof deleted | null | undefined) => {
      if (id !== deleted) return id;
      kept.push(keepField(field, 'deleted'));
      return undefined;
    };
    const epicId = epicRef == null ? epicRef : await findEpic(epicRef, `items.${index}.epicRef`);
    const parentId = parentRef == null ? parentRef : await findStory(parentRef, `items.${index}.parentRef`);
    const blockers = new Set<string>();
    let isBlockerDeleted = false;
    for (const [place, blocker] of (dependsOn ?? []).entries()) {
      const id = await findStory(blocker, `items.${index}.dependsOn.${place}`);
      if (id === deleted) isBlockerDeleted = true;
      else blockers.add(id);
    }
    if (isBlockerDeleted) kept.push(keepField('dependsOn', 'deleted'));
    references.set(ref, {
      epicId: ifThere('epicRef', epicId),
      parentId: ifThere('parentRef', parentId),
      dependsOn: dependsOn === undefined ? undefined : [...blockers].sort(),
      kept,
    });
  }
  return references;
}
