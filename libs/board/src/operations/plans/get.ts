import { type StoryPlanEntry } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle, withPathOnNotFound } from '@muster/runtime';
import { findOpenStories } from '../../data/plan-stories.ts';
import { findPlanEntries, getPlan, planCondition, type PlanEntryRow, toStoryPlan } from '../../data/plans.ts';
import { sql } from '@muster/driver';
import { orderPlan } from './plan-order.ts';

const toEntry = (row: PlanEntryRow, refs: ReadonlyMap<string, string>): StoryPlanEntry => ({
  ...{ ref: row.ref, storyId: row.story_id, key: row.key, title: row.title },
  ...{ status: row.status, estimate: row.estimate },
  dependsOn: row.blockers.map(({ id, key }) => refs.get(id) ?? key),
});

export const get = handle(boardRegistry.plans.get, async ({ params, targetId, db }) => {
  const condition = planCondition(params, targetId);
  const [plan, entries, openStories] = await Promise.all([
    withPathOnNotFound(params.planRef === undefined ? 'planId' : 'planRef', getPlan(db, condition)),
    findPlanEntries(db, condition),
    findOpenStories(db, sql.part`(select l.project_id from plans l where ${condition})`),
  ]);
  const refs = new Map(entries.flatMap(({ story_id: id, ref }) => (id === null ? [] : [[id, ref] as const])));
  const counted = entries.filter(({ status }) => status !== null && status !== 'canceled');
  const done = counted.filter(({ status }) => status === 'done').length;
  return {
    plan: toStoryPlan(plan),
    items: entries.map((entry) => toEntry(entry, refs)),
    ...orderPlan(openStories, refs),
    progress: { total: counted.length, done },
  };
});
