/** Writes what plans.apply has planned, with few statements for any number of stories. */
import { type Db, newId, type Query } from '@muster/driver';
import { isDeepStrictEqual } from 'node:util';
import { insertAndCountStories } from '../../data/counts.ts';
import { findCurrentSpecs, setLastStoryNumber } from '../../data/import-board.ts';
import { insertDependencies } from '../../data/import-waits.ts';
import { deleteDependencies, insertSpecVersions, updateStories } from '../../data/plan-stories.ts';
import { deletePlanItems, type PlanItemRow, type PlanRow, plans, storePlanItems } from '../../data/plans.ts';
import { nextSpecRow, type SpecRow, toPreviousSpec } from '../../data/specs.ts';
import { type StoryRow, toStoryEventSubject } from '../../data/stories.ts';
import { type StoryDependency } from '../../rules/import-merge.ts';
import { isFinished } from '../../rules/workflow.ts';
import { closeFormerParent, closeParent } from '../stories/close-parent.ts';
import { type LoadedPlan } from './load-plan.ts';
import { type EpicsOfPlan, writeEpics } from './plan-epics.ts';
import { type PlannedStory } from './plan-stories.ts';

/** The names that fields of a plan have in events and in stories.update. */
const eventFields: Readonly<Record<string, string>> = {
  epicRef: 'epicId',
  parentRef: 'parentId',
  dependsOn: 'blockedBy',
};

/**
 * Writes the plan and returns its row. Reports that nothing changed if the plan was applied before and this
 * call changes and removes no item.
 */
export async function writePlan(
  loaded: LoadedPlan,
  epicsOfPlan: EpicsOfPlan,
  planned: readonly PlannedStory[],
): Promise<PlanRow> {
  const epicItems = await writeEpics(loaded, epicsOfPlan);
  const specRows = await writeStories(loaded, planned);
  emitEvents(loaded, planned, specRows);
  await closeParents(loaded, planned);
  return writePlanRows(loaded, [...epicItems, ...toPlanItems(planned)], {
    epic: epicsOfPlan.plannedEpics,
    story: planned,
  });
}

/** Closes the parents whose last open child this plan finished or moved away, if the policy says so. */
async function closeParents(
  { context, policy }: LoadedPlan,
  planned: readonly PlannedStory[],
): Promise<void> {
  const open = planned.filter(({ before }) => before !== undefined && !isFinished(before.status));
  const finished = open.flatMap(({ after }) =>
    after !== undefined && isFinished(after.status) ? after : [],
  );
  for (const child of firstOfEachParent(finished)) await closeParent(context, child, policy);
  const moved = open.flatMap(({ before, after }) =>
    before !== undefined && after !== undefined && before.parent_id !== after.parent_id ? before : [],
  );
  for (const child of firstOfEachParent(moved)) await closeFormerParent(context, child, policy);
}

const firstOfEachParent = (children: readonly StoryRow[]): StoryRow[] =>
  [...Map.groupBy(children, (child) => child.parent_id).values()].flatMap(([first]) => first ?? []);

const toPlanItems = (planned: readonly PlannedStory[]): PlanItemRow[] =>
  planned.flatMap(({ ref, item, storyId, base }, position) =>
    item === undefined || base === null
      ? []
      : [{ kind: 'story' as const, ref, record_id: storyId, position, base: { ...base } }],
  );

async function writeStories(
  { context, projectId, board, at }: LoadedPlan,
  planned: readonly PlannedStory[],
): Promise<ReadonlyMap<string, SpecRow>> {
  const { db, caller } = context;
  const created = planned.flatMap(({ before, after }) =>
    before === undefined && after !== undefined ? [after] : [],
  );
  const changed = planned.flatMap(({ before, after }) =>
    before !== undefined && after !== undefined && after.version !== before.version ? [after] : [],
  );
  const withSpec = planned.filter(writesSpec);
  const previous = await findCurrentSpecs(
    db,
    withSpec.flatMap(({ before }) => before?.id ?? []),
  );
  // Parents come before their children, because the statements are split.
  const sorted = [...created].sort(
    (one, other) => Number(one.parent_id !== null) - Number(other.parent_id !== null),
  );
  await runInOrder(db, [...insertAndCountStories(projectId, sorted), ...updateStories(changed)]);
  if (created.length > 0)
    db.deferToCommit(setLastStoryNumber(projectId, board.lastStoryNumber + created.length));
  const specRows = withSpec.map(({ storyId, item }) =>
    nextSpecRow(toPreviousSpec(storyId, previous.get(storyId)), {
      ...{ content: item?.spec ?? '', author: caller.actor, note: null, at },
    }),
  );
  for (const insert of insertSpecVersions(specRows)) db.deferToCommit(insert);
  await writeDependencies(db, projectId, planned);
  return new Map(specRows.map((row) => [row.story_id, row]));
}

async function writeDependencies(db: Db, projectId: string, planned: readonly PlannedStory[]): Promise<void> {
  const gone: StoryDependency[] = [];
  const added: StoryDependency[] = [];
  for (const { storyId, before, blockerIds } of planned) {
    const blockers = before?.blocked_by ?? [];
    for (const blockerId of blockers) if (!blockerIds.includes(blockerId)) gone.push({ storyId, blockerId });
    for (const blockerId of blockerIds) if (!blockers.includes(blockerId)) added.push({ storyId, blockerId });
  }
  await runInOrder(db, [
    ...splitIntoChunks(maxDependenciesPerStatement, gone).map(deleteDependencies),
    ...splitIntoChunks(maxDependenciesPerStatement, added).map((slice) =>
      insertDependencies(projectId, slice),
    ),
  ]);
}

/** The number of dependencies per statement, which keeps each far below the statement timeout. */
const maxDependenciesPerStatement = 1_000;

const splitIntoChunks = <Item>(size: number, items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/** Runs each statement in a round trip of its own, because statements that are sent together share one timeout. */
async function runInOrder(db: Db, queries: readonly Query<unknown>[]): Promise<void> {
  for (const query of queries) await db.all(query);
}

/** Reports whether the plan writes a spec version. A new story with an empty spec has none yet. */
const writesSpec = ({ before, after }: PlannedStory): boolean =>
  after !== undefined && after.spec_version !== (before?.spec_version ?? 0);

function emitEvents(
  { context: { emit } }: LoadedPlan,
  planned: readonly PlannedStory[],
  specRows: ReadonlyMap<string, SpecRow>,
): void {
  for (const { storyId, before, after, change } of planned) {
    if (after === undefined) continue;
    const subject = toStoryEventSubject(after);
    if (before === undefined) emit('story.created', subject, { status: after.status });
    const spec = specRows.get(storyId);
    if (spec !== undefined)
      emit('spec.updated', subject, {
        ...{ version: spec.version, linesAdded: spec.lines_added, linesRemoved: spec.lines_removed },
      });
    if (before === undefined) continue;
    const fields = change.fields.filter((field) => field !== 'status' && field !== 'spec');
    if (change.action === 'update' && fields.length > 0)
      emit('story.updated', subject, { fields: fields.map((field) => eventFields[field] ?? field) });
    if (before.status !== after.status)
      emit('story.statusChanged', subject, {
        ...{ from: before.status, to: after.status, columnId: after.column_id },
      });
  }
}

function writePlanRows(
  { context, params, plan, storedStories, storedEpics, projectId, at }: LoadedPlan,
  items: readonly PlanItemRow[],
  planned: {
    readonly [Kind in 'epic' | 'story']: readonly { readonly change: { ref: string; action: string } }[];
  },
): PlanRow {
  const { db, caller, reportNoChange } = context;
  const changedItems = items.filter(
    (item) => !isDeepStrictEqual(item, (item.kind === 'epic' ? storedEpics : storedStories).get(item.ref)),
  );
  const removed = (['epic', 'story'] as const).map((kind) => ({
    kind,
    refs: planned[kind].filter(({ change }) => change.action === 'remove').map(({ change }) => change.ref),
  }));
  const isNothingRemoved = removed.every(({ refs }) => refs.length === 0);
  if (plan !== undefined && changedItems.length === 0 && isNothingRemoved) {
    reportNoChange();
    return plan;
  }
  const id = plan?.id ?? newId();
  const row =
    plan === undefined
      ? plans.make({ id, projectId, ref: params.planRef, appliedBy: caller.actor }, at)
      : plans.save(db, plan, { applied_by: caller.actor }, at);
  if (plan === undefined) db.deferToCommit(plans.insert(row));
  for (const { kind, refs } of removed)
    if (refs.length > 0) db.deferToCommit(deletePlanItems(id, kind, refs));
  if (changedItems.length > 0) db.deferToCommit(storePlanItems(id, changedItems));
  return row;
}
