/** Plans the stories of plans.apply: the decision about each ref, and the rows after it. */
import { createHash } from 'node:crypto';
import { type KeptField, type StoryPlanChange, type StoryPlanItem, type StoryStatus } from '@muster/contract';
import { type PlanStory } from '../../data/plan-stories.ts';
import { hasSpecContent } from '../../data/specs.ts';
import { stories, type StoryRow, toStoryKey } from '../../data/stories.ts';
import { decidePlanItem, type PlanDecision } from '../../rules/plan-decisions.ts';
import { type FieldValues } from '../../rules/plan-merge.ts';
import { isFinished } from '../../rules/workflow.ts';
import { type ItemReferences, type LoadedPlan } from './load-plan.ts';
import { createPlanBoard, type PlanBoard } from './plan-board.ts';

/** A ref of the plan with the decision about it. */
export interface PlannedStory {
  readonly ref: string;
  readonly storyId: string;
  readonly change: StoryPlanChange;
  /** The item; undefined if the ref is gone. */
  readonly item: StoryPlanItem | undefined;
  readonly before: PlanStory | undefined;
  /** The row after the plan; undefined for a deleted story. */
  readonly after: StoryRow | undefined;
  readonly blockerIds: readonly string[];
  /** The values that the plan has applied; null if the ref leaves the plan. */
  readonly base: FieldValues | null;
}

type PlannedRef = Pick<PlannedStory, 'ref' | 'storyId' | 'item' | 'before'>;

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');
const emptySpecHash = hashText('');

/** Returns the values of a story in the form that plans compare. */
const valuesOf = (row: StoryRow, specHash: string | null) => ({
  title: row.title,
  description: hashText(row.description),
  spec: specHash ?? emptySpecHash,
  status: row.status,
  epicRef: row.epic_id,
  parentRef: row.parent_id,
  dependsOn: row.blocked_by,
  touches: row.touches,
  estimate: row.estimate,
  priority: row.priority,
  labels: row.labels,
  dueDate: row.due_date,
});

const plannedValuesOf = (item: StoryPlanItem, references: ItemReferences): FieldValues => ({
  title: item.title,
  description: item.description === undefined ? undefined : hashText(item.description),
  spec: item.spec === undefined ? undefined : hashText(item.spec),
  status: item.status,
  epicRef: references.epicId,
  parentRef: references.parentId,
  dependsOn: references.dependsOn,
  touches: item.touches,
  estimate: item.estimate,
  priority: item.priority,
  labels: item.labels,
  dueDate: item.dueDate,
});

/** The columns that an item sets, by field. Places, specs and dependencies are written separately. */
const columnsOf = (
  item: StoryPlanItem,
  { epicId, parentId }: ItemReferences,
): Record<string, Partial<StoryRow>> => ({
  title: { title: item.title },
  description: { description: item.description ?? '' },
  epicRef: { epic_id: epicId ?? null },
  parentRef: { parent_id: parentId ?? null },
  touches: { touches: [...(item.touches ?? [])] },
  estimate: { estimate: item.estimate ?? null },
  priority: { priority: item.priority ?? 'none' },
  labels: { labels: item.labels ?? [] },
  dueDate: { due_date: item.dueDate ?? null },
});

/** Plans all refs: first those that are gone, because they free places, then the items in their order. */
export function planStories(
  loaded: LoadedPlan,
  storyIds: ReadonlyMap<string, string>,
  references: ReadonlyMap<string, ItemReferences>,
): PlannedStory[] {
  const { context, board, policy, params, items, itemRefs, storedStories } = loaded;
  const planner = new StoryPlanner(loaded, createPlanBoard(board, policy, context.caller));
  const gone = params.prune ? [...storedStories.keys()].filter((ref) => !itemRefs.has(ref)) : [];
  const removed = gone.map((ref) => planner.plan(ref, storyIds.get(ref) ?? '', undefined));
  const planned = items.map((item) => {
    const found = references.get(item.ref);
    if (found === undefined) throw new Error('the references of an item were not resolved');
    return planner.plan(item.ref, storyIds.get(item.ref) ?? '', { item, references: found });
  });
  return [...planned, ...removed];
}

interface ResolvedItem {
  readonly item: StoryPlanItem;
  readonly references: ItemReferences;
}

class StoryPlanner {
  readonly #loaded: LoadedPlan;
  readonly #board: PlanBoard;
  #createdCount = 0;

  constructor(loaded: LoadedPlan, board: PlanBoard) {
    this.#loaded = loaded;
    this.#board = board;
  }

  plan(ref: string, storyId: string, resolved: ResolvedItem | undefined): PlannedStory {
    const { storedStories, stories: rows, reviews } = this.#loaded;
    const before = rows.get(storyId);
    const current = before === undefined ? null : valuesOf(before, before.spec_hash);
    const base = storedStories.get(ref)?.base ?? null;
    const decision = decidePlanItem({
      planned: resolved === undefined ? null : plannedValuesOf(resolved.item, resolved.references),
      base,
      current,
      isWorkedOn: before?.is_worked_on === true,
      findStatusObstacle: (status, updated) => {
        const isNewSpec = updated.includes('spec');
        const hasContent = isNewSpec ? hasSpecContent(resolved?.item.spec ?? '') : before?.has_spec === true;
        const version = (before?.spec_version ?? 0) + (isNewSpec ? 1 : 0);
        return this.#board.findObstacle({
          ...{ story: before, status, spec: { hasContent, version }, reviews: reviews.get(storyId) },
        });
      },
    });
    const kept = [...(resolved?.references.kept ?? []), ...('kept' in decision ? decision.kept : [])];
    const planned = { ref, storyId, item: resolved?.item, before };
    if (decision.action === 'create') {
      if (resolved === undefined) throw new Error('only an item can create a story');
      return this.#create(planned, resolved, decision.status, kept);
    }
    if (decision.action === 'remove') return this.#remove(planned, decision.cancels);
    return this.#update(planned, resolved, decision, kept);
  }

  #create(
    planned: PlannedRef,
    { item, references }: ResolvedItem,
    status: 'backlog' | 'ready',
    kept: readonly KeptField[],
  ): PlannedStory {
    const { context, board, params, projectId, at } = this.#loaded;
    const full = this.#board.findFullColumn(status);
    if (full !== undefined) throw context.refuse('wip_limit', { columnId: full.id, limit: full.wipLimit });
    const { columnId, rank } = this.#board.move(null, status);
    this.#createdCount += 1;
    const { title, description, priority, labels, estimate, touches, dueDate, spec = '' } = item;
    const { epicId, parentId, dependsOn = [] } = references;
    const after: StoryRow = {
      project_key: board.projectKey,
      ...stories.make(
        {
          ...{ id: planned.storyId, projectId, number: board.lastStoryNumber + this.#createdCount },
          ...{ title, description, priority, labels, estimate, touches, dueDate, epicId, parentId },
          ...{ status, columnId, rank, specVersion: spec === '' ? 0 : 1 },
          ...{ createdBy: context.caller.actor, completedAt: null },
        },
        at,
      ),
    };
    const isWritten = params.mode === 'apply';
    const values = plannedValuesOf(item, references);
    return {
      ...{ ...planned, after, blockerIds: dependsOn },
      base: { ...valuesOf(after, hashText(spec)), dependsOn },
      change: {
        ...{ ref: planned.ref, action: 'create' },
        storyId: isWritten ? after.id : null,
        key: isWritten ? toStoryKey(after) : null,
        fields: Object.keys(values).filter((field) => values[field] !== undefined),
        kept: [...kept],
      },
    };
  }

  #remove(planned: PlannedRef, cancels: boolean): PlannedStory {
    const { before } = planned;
    const after =
      before !== undefined && cancels
        ? { ...this.#moved(before, 'canceled'), version: before.version + 1 }
        : before;
    return {
      ...{ ...planned, after, blockerIds: before?.blocked_by ?? [], base: null },
      change: toChange(planned.ref, 'remove', before, { fields: cancels ? ['status'] : [], kept: [] }),
    };
  }

  #update(
    planned: PlannedRef,
    resolved: ResolvedItem | undefined,
    decision: Exclude<PlanDecision, { readonly action: 'create' | 'remove' }>,
    kept: readonly KeptField[],
  ): PlannedStory {
    const { before, ref } = planned;
    const { merge } = decision;
    const isKept = decision.action === 'unchanged' && kept.length > 0;
    const blockerIds =
      (merge.updated.includes('dependsOn') ? resolved?.references.dependsOn : undefined) ??
      before?.blocked_by ??
      [];
    let after: StoryRow | undefined = before;
    if (before !== undefined && resolved !== undefined && merge.updated.length > 0) {
      const columns = columnsOf(resolved.item, resolved.references);
      after = Object.assign({}, before, ...merge.updated.map((field) => columns[field]), {
        spec_version: before.spec_version + (merge.updated.includes('spec') ? 1 : 0),
        version: before.version + 1,
        updated_at: this.#loaded.at,
      }) as StoryRow;
      const { status } = resolved.item;
      if (merge.updated.includes('status') && status !== undefined) after = this.#moved(after, status);
    }
    return {
      ...{ ...planned, after, blockerIds, base: merge.base },
      change: toChange(ref, isKept ? 'keep' : decision.action, before, {
        fields: [...merge.updated],
        kept: [...kept],
      }),
    };
  }

  /** Returns the row after a move to the end of the first column of the status. */
  #moved(row: StoryRow, status: StoryStatus): StoryRow {
    const { at } = this.#loaded;
    const { columnId, rank } = this.#board.move(row.column_id, status);
    const finishedAt = isFinished(row.status) ? row.completed_at : at;
    return {
      ...row,
      ...{ status, column_id: columnId, rank, completed_at: isFinished(status) ? finishedAt : null },
      ...{ updated_at: at },
    };
  }
}

const toChange = (
  ref: string,
  action: StoryPlanChange['action'],
  story: StoryRow | undefined,
  { fields, kept }: Pick<StoryPlanChange, 'fields' | 'kept'>,
): StoryPlanChange => ({
  ...{ ref, action, fields, kept },
  storyId: story?.id ?? null,
  key: story === undefined ? null : toStoryKey(story),
});
