import { newId } from '@muster/database';
import { orgRank, projectRank, registry, type Subject } from '@muster/registry';
import { forbidden, handle } from '@muster/runtime';
import {
  countRecipients,
  getProjectOfBroadcast,
  getTeamOfBroadcast,
  insertBroadcast,
  toBroadcast,
} from '../../data/broadcasts.ts';
import { excerpt } from '../../rules/excerpts.ts';

const longestTitle = 80;

export const send = handle(registry.broadcasts.send, async ({ params, caller, db, access, emit, refuse }) => {
  const { message, level, projectId, teamId, expiresInSeconds } = params;
  const [{ at, orgRole }, project, team, recipients] = await Promise.all([
    access(),
    projectId === undefined ? null : getProjectOfBroadcast(db, caller, projectId),
    teamId === undefined ? null : getTeamOfBroadcast(db, caller.orgId, teamId),
    countRecipients(db, caller, { projectRef: projectId, teamId }),
  ]);
  const isHead = orgRank(orgRole) >= orgRank('admin');
  if (project !== null && project.rank < projectRank('contributor')) {
    throw forbidden('role', 'Your role in the project does not allow this.');
  }
  if (project === null && team === null && !isHead) {
    throw forbidden('role', 'Only an admin may send to the whole organization.');
  }
  if (project?.archived === true) throw refuse('archived');

  const row = {
    id: newId(),
    message,
    level,
    project_id: project?.id ?? null,
    team_id: team?.id ?? null,
    sender: caller.actor,
    sender_member_id: caller.memberId,
    expires_at: new Date(Date.parse(at) + expiresInSeconds * 1_000).toISOString(),
    created_at: at,
  };
  db.later(insertBroadcast(caller.orgId, row));
  // Whoever sees the project, or without one everybody, sees this; a team's message is for the team.
  const subject: Subject = {
    type: 'broadcast',
    id: row.id,
    key: null,
    title: team === null ? excerpt(message, longestTitle) : `To ${team.name}`,
    projectId: row.project_id,
  };
  emit('broadcast.posted', subject, { level, teamId: row.team_id });
  return { broadcast: toBroadcast(row), recipients };
});
