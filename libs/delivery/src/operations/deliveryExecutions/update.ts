import { type Db, sqlQuery } from '@muster/database';
import { mergeGit, nothingKnown, registry } from '@muster/registry';
import { handle, type HandlerContext, notFound } from '@muster/runtime';
import { type ExecutionChanges } from '../../data/executions.ts';
import { aboutTarget } from '../../data/targets.ts';
import { asHolder, goOn } from './as-holder.ts';
import { requestStop } from './request-stop.ts';

type Context = HandlerContext<typeof registry.deliveryExecutions.update>;

export const update = handle(registry.deliveryExecutions.update, async (context) => {
  const { leaseToken } = context.params;
  return leaseToken === undefined ? requestStop(context) : sayWhereItStands(context, leaseToken);
});

async function sayWhereItStands(context: Context, leaseToken: string) {
  const { params, caller, db, emit, refuse } = context;
  const { executionId, phase, progress, git, waitingFor } = params;
  const questionId = waitingFor?.questionId;
  const [grip, question] = await Promise.all([
    asHolder(context, { executionId, leaseToken }, 'update'),
    questionId === undefined ? undefined : findQuestion(db, caller.orgId, executionId, questionId),
  ]);
  if (grip.kind === 'repeated') return { execution: grip.execution, signals: [] };
  if (questionId !== undefined) {
    if (question === undefined) throw notFound();
    if (!question.open) throw refuse('invalid_transition', { questionId });
  }
  const changes: ExecutionChanges = {
    ...(phase !== undefined && { phase }),
    ...(progress !== undefined && { progress }),
    ...(git !== undefined && { git: mergeGit(grip.execution.git ?? nothingKnown, git) }),
    ...(waitingFor !== undefined && {
      waiting_for: questionId ?? null,
      state: questionId === undefined ? 'leased' : 'waiting_input',
    }),
  };
  const fields = Object.entries({ phase, progress, git, waitingFor })
    .filter(([, value]) => value !== undefined)
    .map(([field]) => field);
  if (fields.length === 0) return goOn(context, grip, {});
  emit('execution.updated', aboutTarget(grip.target), { executionId, fields });
  return goOn(context, grip, {
    changes,
    deeds: [
      {
        kind: 'updated',
        data: { fields, ...(phase && { phase }), ...(progress !== undefined && { progress }) },
      },
    ],
  });
}

/** A question on the story, or on one of the group's stories; held, so that it is not answered unseen. */
const findQuestion = (
  db: Db,
  orgId: string,
  executionId: string,
  questionId: string,
): Promise<{ open: boolean } | undefined> =>
  db.find(
    sqlQuery(
      `select c.resolved_at is null and c.deleted_at is null as open
       from comments c join executions e on e.org_id = c.org_id and e.id = $2
       where c.org_id = $1 and c.id = $3 and c.kind = 'question' and c.parent_id is null
         and (c.story_id = e.target_id or c.story_id in
           (select s.story_id from delivery_group_stories s where s.org_id = $1 and s.group_id = e.target_id and s.open))
       for share of c`,
      [orgId, executionId, questionId],
    ),
  );
