import { type NewRunLogLine, type ParamsOf, RunLogStream, unauthorized } from '@muster/contract';
import { deliveryRegistry } from '@muster/delivery-registry';
import { forbidden, handle, pathNotFound } from '@muster/runtime';
import {
  runSubject,
  createOrLockRun,
  findAgentOwnerId,
  findRunWork,
  type RunRow,
  updateRun,
  toRun,
} from '../../data/runs.ts';
import { appendRunLog, deleteDroppedLines } from '../../data/run-logs.ts';
import { reportUsage } from '../../leases/report-usage.ts';
import { decideRunEvent, isFinalRunState, runStateAfterEvent } from '../../rules/run-states.ts';

export const runEvent = handle(deliveryRegistry.agents.runEvent, async (context) => {
  const { params, targetId: projectId, caller, db, emit, refuse } = context;
  const { memberId } = caller;
  const agentId = params.agentId ?? caller.agentId;
  if (caller.agentId !== null && agentId !== caller.agentId) throw notOwnAgentError();
  const [claimed, work, agentMember] = await Promise.all([
    createOrLockRun(db, caller, projectId, params, agentId),
    findRunWork(db, caller, projectId, params, agentId),
    params.agentId === undefined ? memberId : findAgentOwnerId(db, params.agentId),
  ]);
  if (agentMember === undefined) throw pathNotFound('agentId');
  if (agentMember !== memberId) throw notOwnAgentError();
  if (claimed === undefined) throw pathNotFound('projectId');
  if (claimed.isRefused) throw params.agentId === undefined ? unauthorized() : pathNotFound('agentId');
  if (work.isInOtherProject) throw refuse('mismatched_project');

  const { run, isNewRun, isDuplicateEvent, now } = claimed;
  const owner = { memberId: run.member_id, agentId: run.agent_id };
  const event = { memberId, agentId, kind: params.kind, isDuplicateEvent };
  const decision = isNewRun ? 'accept' : decideRunEvent({ ...owner, state: run.state }, event);
  if (decision === 'not_own') throw forbidden('not_own_run');
  if (decision === 'ended') throw refuse('run_ended', { state: run.state, endedAt: run.ended_at });
  const { usage } = params;
  if (usage !== undefined) {
    const source = { ...owner, projectId, runId: run.run_id, storyId: work.storyId ?? run.story_id };
    await reportUsage(context, source, usage);
  }
  if (decision === 'repeat') return { run: toRun(run) };

  const lines = newLogLines(params);
  const state = runStateAfterEvent(params.kind, isNewRun ? undefined : run.state);
  const changed: RunRow = {
    ...run,
    state,
    last_event:
      params.kind === 'log' && !isNewRun
        ? run.last_event
        : { kind: params.kind, message: params.message ?? null, data: params.data ?? null, at: now },
    log_lines: run.log_lines + lines.length,
    started_at: isNewRun ? now : run.started_at,
    last_seen_at: now,
    ended_at: isFinalRunState(state) ? now : null,
    story_id: work.storyId ?? run.story_id,
    execution_id: work.executionId ?? run.execution_id,
  };
  db.deferToCommit(updateRun(changed, params.dedupeKey));
  if (lines.length > 0) {
    db.deferToCommit(appendRunLog(run.id, run.log_lines, lines, now));
    db.deferToCommit(deleteDroppedLines(run.id, changed.log_lines));
  }
  const about = { runId: run.run_id, agentId, storyId: changed.story_id };
  if (isNewRun) emit('run.started', runSubject(changed), about);
  if (isFinalRunState(state)) emit(`run.${state}`, runSubject(changed), about);
  return { run: toRun(changed) };
});

/** Returns the lines that an event adds to the log. */
function newLogLines({
  kind,
  message,
  data,
  lines = [],
}: ParamsOf<typeof deliveryRegistry.agents.runEvent>): readonly NewRunLogLine[] {
  if (kind !== 'log') return [];
  const stream = RunLogStream.catch('stdout').parse(data?.['stream']);
  return [...(message === undefined ? [] : [{ stream, message }]), ...lines];
}

const notOwnAgentError = () => forbidden('not_own_agent');
