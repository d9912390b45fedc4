/** Writes the budget that the examples name, and what a run used. */
import { type Makers } from '@muster/testing/world';

const exampleBudgetId = '01936d5c-0000-7000-8000-0000000000e1';

interface UsageSetUp {
  readonly orgId: string;
  readonly projectId: string;
  readonly stories: readonly string[];
  readonly memberId: string;
  readonly agentId: string;
  /** The actor as JSON. */
  readonly author: string;
  readonly idOf: (exampleId: string) => string;
}

/** Inserts a monthly budget of a story, and returns its id. */
export async function arrangeUsage(
  { rows }: Makers,
  { orgId, projectId, stories, memberId, agentId, author, idOf }: UsageSetUp,
): Promise<{ budget: string }> {
  const budget = idOf(exampleBudgetId);
  await rows(
    `insert into budgets (org_id, id, scope, project_id, story_id, period, action, amount_micros, currency, period_start, set_by)
     values ($1, $2, 'story', $3, $4, 'month', 'notify', 20000000, 'USD', app.period_start('month', now()), $5)`,
    orgId,
    budget,
    projectId,
    stories[1],
    author,
  );
  await rows(
    `insert into usage_days (org_id, project_id, day, member_id, agent_id, run_id, story_id, model, currency, input_tokens,
       output_tokens, cached_tokens, cost_micros)
     values ($1, $2, (now() at time zone 'UTC')::date, $3, $4, 'run-0', $5, 'claude-sonnet-4-5', 'USD', 52000, 9100, 310000, 385500)`,
    orgId,
    projectId,
    memberId,
    agentId,
    stories[0],
  );
  return { budget };
}
