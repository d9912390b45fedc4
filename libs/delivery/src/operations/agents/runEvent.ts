import { registry, unauthorized } from '@muster/registry';
import { forbidden, handle, nothingAt } from '@muster/runtime';
import {
  aboutRun,
  claimRun,
  findAgentMember,
  findRunWork,
  type RunRow,
  setRun,
  toRun,
} from '../../data/runs.ts';
import { decideRunEvent, isFinal, stateAfter } from '../../rules/run-states.ts';

export const runEvent = handle(registry.agents.runEvent, async (context) => {
  const { params, targetId: projectId, caller, db, emit, refuse } = context;
  const { memberId } = caller;
  const agentId = params.agentId ?? caller.agentId;
  if (caller.agentId !== null && agentId !== caller.agentId) throw notOwnAgent();
  const [claimed, work, agentMember] = await Promise.all([
    claimRun(db, caller, projectId, params, agentId),
    findRunWork(db, caller, projectId, params, agentId),
    params.agentId === undefined ? memberId : findAgentMember(db, params.agentId),
  ]);
  if (agentMember === undefined) throw nothingAt('agentId');
  if (agentMember !== memberId) throw notOwnAgent();
  if (claimed === undefined) throw nothingAt('projectId');
  if (claimed.isRefused) throw params.agentId === undefined ? unauthorized() : nothingAt('agentId');
  if (work.isElsewhere) throw refuse('mismatched_project');

  const { run, begun, isKnown, now } = claimed;
  const owner = { memberId: run.member_id, agentId: run.agent_id };
  const event = { memberId, agentId, kind: params.kind, isKnown };
  const decision = begun ? 'accept' : decideRunEvent({ ...owner, state: run.state }, event);
  if (decision === 'not_own') {
    throw forbidden('not_own_run');
  }
  if (decision === 'ended') throw refuse('run_ended', { state: run.state, endedAt: run.ended_at });
  if (decision === 'repeat') return { run: toRun(run) };

  const state = stateAfter(params.kind, begun ? undefined : run.state);
  const changed: RunRow = {
    ...run,
    state,
    last_event: { kind: params.kind, message: params.message ?? null, data: params.data ?? null, at: now },
    started_at: begun ? now : run.started_at,
    last_seen_at: now,
    ended_at: isFinal(state) ? now : null,
    story_id: work.storyId ?? run.story_id,
    execution_id: work.executionId ?? run.execution_id,
  };
  db.later(setRun(changed, params.dedupeKey));
  const about = { runId: run.run_id, agentId, storyId: changed.story_id };
  if (begun) emit('run.started', aboutRun(changed), about);
  if (isFinal(state)) emit(`run.${state}`, aboutRun(changed), about);
  return { run: toRun(changed) };
});

const notOwnAgent = () => forbidden('not_own_agent');
