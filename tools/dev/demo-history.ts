/** Eight weeks of finished stories, so that the demo's delivery metrics have data. */
import { type Client } from '@muster/client';
import { type Pool } from '@muster/driver';
import { type DemoPerson } from './demo-stories.ts';

export const historyWeeks = 8;

const finished: readonly (readonly [title: string, by: DemoPerson])[] = [
  ['Send order confirmations from our own domain', 'ben'],
  ['Show the delivery date on the product page', 'chloe'],
  ['Remember the language of a visitor', 'ana'],
  ['Compress product pictures on upload', 'agent'],
  ['Let people remove an item from the basket', 'chloe'],
  ['Log in with an e-mail link', 'ben'],
  ['Fix the total when a voucher expires', 'agent'],
  ['Show stock per shop', 'chloe'],
  ['Move the newsletter form to the footer', 'ana'],
  ['Retry failed card payments once', 'ben'],
  ['Sort search results by relevance', 'agent'],
  ['Print an invoice from the account page', 'chloe'],
  ['Warn before the session ends', 'agent'],
  ['Add keyboard focus to the menu', 'chloe'],
  ['Import prices every night', 'ben'],
  ['Measure how long checkout takes', 'agent'],
];

const statuses = ['ready', 'in_progress', 'in_review', 'done'] as const;
const daysBetween = (historyWeeks * 7) / finished.length;

/**
 * Creates the finished stories of past weeks with the usual operations, then moves their times into the past.
 * These stories are created first and do not overlap in time, so that the order of the activity stays the
 * order of its times.
 */
export async function makeDemoHistory(
  people: Readonly<Record<DemoPerson, Client>>,
  pool: Pool,
  projectKey: string,
): Promise<void> {
  const { project } = await people.ana.projects.get({ projectId: projectKey });
  await pool.query(
    `update activity set at = now() - make_interval(weeks => $2, days => 1) where project_id = $1`,
    [project.id, historyWeeks],
  );
  for (const [index, [title, by]] of finished.entries()) {
    const { story } = await people[by].stories.create({
      projectId: projectKey,
      title,
      estimate: 1 + (index % 5),
    });
    for (const status of statuses) await people[by].stories.updateStatus({ storyId: story.id, status });
    // The work took between one and three days.
    await moveToPast(pool, story.id, {
      daysAgo: (finished.length - index - 1) * daysBetween + 0.2,
      leadDays: 1 + ((index * 7) % 5) / 2,
    });
  }
}

async function moveToPast(
  pool: Pool,
  storyId: string,
  { daysAgo, leadDays }: { readonly daysAgo: number; readonly leadDays: number },
): Promise<void> {
  await pool.query(
    `update activity set at = now() - make_interval(secs => 86400 * ($2::float8 + $3::float8 * case
       when data ->> 'to' = 'done' then 0
       when data ->> 'to' = 'in_review' then 0.2
       when data ->> 'to' = 'in_progress' then 1
       else 1.05 end))
     where story_id = $1`,
    [storyId, daysAgo, leadDays],
  );
  await pool.query(
    `update stories set created_at = now() - make_interval(secs => 86400 * ($2::float8 + 1.05 * $3::float8)),
       updated_at = now() - make_interval(secs => 86400 * $2::float8),
       completed_at = now() - make_interval(secs => 86400 * $2::float8)
     where id = $1`,
    [storyId, daysAgo, leadDays],
  );
}
