/** Finished stories of the past weeks, so that the demo's health, activity and usage have data. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Client } from '@muster/client';
import { type Pool } from '@muster/driver';
import { type StoryStatus } from '@muster/contract';
import { demoHistory, type DemoPerson, type FinishedStory } from './demo-stories.ts';
import { takeWork } from './demo-waiting.ts';

export const historyWeeks = 12;
const backdateSql = await readFile(path.join(import.meta.dirname, 'demo-history.sql'), 'utf8');
const daysBetween = (historyWeeks * 7) / demoHistory.length;

/**
 * Creates the finished stories with the usual operations, then moves their times into the past. These stories
 * are created first and do not overlap in time, so that the order of the activity stays the order of its times.
 */
export async function makeDemoHistory(
  people: Readonly<Record<DemoPerson, Client>>,
  pool: Pool,
  projectId: string,
): Promise<void> {
  const beforeHistory = `now() - interval '${historyWeeks * 7 + 1} days'`;
  await pool.query(`update activity set at = ${beforeHistory} where project_id = $1`, [projectId]);
  for (const [index, one] of demoHistory.entries()) {
    const client = people[one.by];
    const { story } = await client.stories.create({ projectId, title: one.title, estimate: 1 + (index % 5) });
    await finishStory(client, people.ben, story.id, one);
    // The newest ends now, so that also on the first day of a month something of its budget is spent.
    const daysAgo = (demoHistory.length - index - 1) * daysBetween;
    // The work took between one and three days.
    await pool.query(backdateSql, [story.id, daysAgo, 1 + ((index * 7) % 5) / 2]);
  }
  await people.ana.budgets.set({
    ...{ scope: 'project', targetId: projectId, period: 'month', action: 'notify', amountMicros: 20_000_000 },
  });
}

async function finishStory(
  client: Client,
  answerer: Client,
  storyId: string,
  { usage, question, isReopened }: FinishedStory,
): Promise<void> {
  const move = async (...statuses: readonly StoryStatus[]): Promise<void> => {
    for (const status of statuses) await client.stories.updateStatus({ storyId, status });
  };
  await move('ready', 'in_progress');
  if (question !== undefined) {
    const { comment } = await client.comments.create({ storyId, body: question, kind: 'question' });
    await answerer.comments.resolve({ commentId: comment.id });
  }
  if (usage !== undefined) {
    const held = await takeWork(client, storyId, { runId: `demo-${storyId}` });
    await client.deliveryExecutions.renew({ ...held, usage });
    await client.deliveryExecutions.release(held);
  }
  await move('in_review', 'done');
  if (isReopened) await move('in_progress', 'done');
}
