import { type Db, orgFilter, sql } from '@muster/driver';
import { applyReportedCode, trustedCodeReport } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import {
  withCanonicalPullRequest,
  changedFields,
  mergeReportedGit,
  replaceNull,
  handle,
  type HandlerContext,
  pathNotFound,
} from '@muster/runtime';
import { changeCodeUnderReview, lockCodeUnderReview } from '../../data/code-under-review.ts';
import { targetSubject } from '../../data/targets.ts';
import { requireHolder, writeAndRenewLease } from '../../leases/execution-holder.ts';
import { liftStop, requestStop } from './request-stop.ts';

type UpdateExecutionContext = HandlerContext<typeof deliveryRegistry.deliveryExecutions.update>;

const unknownCode = { headSha: null, diffHash: null };

export const update = handle(deliveryRegistry.deliveryExecutions.update, async (context) => {
  const { leaseToken, requestStop: stops } = context.params;
  if (leaseToken !== undefined) return updateAsHolder(context, leaseToken);
  return stops === false ? liftStop(context) : requestStop(context);
});

async function updateAsHolder(context: UpdateExecutionContext, leaseToken: string) {
  const { params, db, policy: askPolicy, emit, refuse } = context;
  const { executionId, phase, progress, waitingFor } = params;
  const questionId = waitingFor?.questionId;
  const code = params.git === null ? unknownCode : params.git;
  const tellsCode = code?.headSha !== undefined || code?.diffHash !== undefined;
  const [codes, policy, holder, question] = await Promise.all([
    // Lock order: stories before leases.
    tellsCode ? lockCodeUnderReview(db, executionId) : [],
    code?.diffHash === undefined ? undefined : askPolicy(),
    requireHolder(context, { executionId, leaseToken }),
    questionId === undefined ? undefined : findQuestion(db, executionId, questionId),
  ]);
  if (questionId !== undefined) {
    if (question === undefined) throw pathNotFound('waitingFor.questionId');
    if (!question.open) throw refuse('invalid_transition', { questionId });
  }
  const { execution: before, now } = holder;
  const git = await withCanonicalPullRequest(context, params.git);
  const wanted = {
    phase,
    progress: replaceNull(progress, 0),
    git: git && mergeReportedGit(before.git, git).git,
    waitingFor: waitingFor && waitingFor.questionId,
  };
  const fields = changedFields({ ...before, waitingFor: before.waiting_for }, wanted);
  if (code !== undefined) {
    const said = policy === undefined ? code : trustedCodeReport(policy, code);
    const told = changeCodeUnderReview(db, codes, (known) => applyReportedCode(known, said, now));
    // The holder may repeat an older report after reports of other code. The git data then stays, but the
    // code under review changes.
    const isNews = codes.some((known, index) => known.code !== told[index]);
    if (isNews && !fields.includes('git')) fields.push('git');
  }
  if (fields.length === 0) return writeAndRenewLease(context, holder, 'renew');
  emit('execution.updated', targetSubject(holder.target), { executionId, fields });
  const transition = waitingFor === undefined ? 'update' : waitingFor === null ? 'waitNoMore' : 'wait';
  return writeAndRenewLease(context, holder, transition, {
    sets: {
      ...(phase !== undefined && { phase }),
      ...(wanted.progress !== undefined && { progress: wanted.progress }),
      ...(wanted.git !== undefined && { git: wanted.git }),
      ...(questionId !== undefined && { waiting_for: questionId }),
    },
    data: {
      fields,
      ...(fields.includes('phase') && { phase }),
      ...(fields.includes('progress') && { progress: wanted.progress }),
    },
  });
}

/**
 * Finds a question on the story, or on one of the group's stories. Locks it, so that an answer cannot be
 * missed.
 */
const findQuestion = (
  db: Db,
  executionId: string,
  questionId: string,
): Promise<{ open: boolean } | undefined> =>
  db.find(
    sql`select c.resolved_at is null and c.deleted_at is null as open
       from comments c join executions e on e.org_id = c.org_id and e.id = ${executionId}
       where ${orgFilter('c')} and c.id = ${questionId} and c.kind = 'question' and c.parent_id is null
         and (c.story_id = e.target_id or c.story_id in
           (select s.story_id from delivery_group_stories s where ${orgFilter('s')} and s.group_id = e.target_id and s.open))
       for share of c`,
  );
