/** Writes the plan that the examples name, with one story, and an empty plan. */
import { newId } from '@muster/driver';
import { type Makers } from '@muster/testing/world';

interface PlanSetUp {
  readonly orgId: string;
  readonly projectId: string;
  readonly storyId: string;
  /** The actor as JSON. */
  readonly author: string;
}

/** Inserts the plan, and returns its id. */
export async function arrangePlan(
  { rows }: Makers,
  { orgId, projectId, storyId, author }: PlanSetUp,
): Promise<string> {
  const id = newId();
  await rows(
    `insert into plans (org_id, id, project_id, ref, applied_by) values ($1, $2, $4, 'launch', $5), ($1, $3, $4, 'later', $5)`,
    orgId,
    id,
    newId(),
    projectId,
    author,
  );
  await rows(
    `insert into plan_items (org_id, plan_id, kind, ref, record_id, position, base) values ($1, $2, 'story', 'T001', $3, 0, '{}')`,
    orgId,
    id,
    storyId,
  );
  return id;
}
