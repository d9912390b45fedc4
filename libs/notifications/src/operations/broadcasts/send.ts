import { newId } from '@muster/driver';
import { forbidden, projectRank, type Subject } from '@muster/contract';
import { notificationsRegistry } from '@muster/notifications-registry';
import { getVisibleProject, handle, withPathOnNotFound } from '@muster/runtime';
import { countRecipients, getTeamOfBroadcast, insertBroadcast, toBroadcast } from '../../data/broadcasts.ts';
import { excerpt } from '../../rules/excerpts.ts';

const maxTitleLength = 80;

export const send = handle(
  notificationsRegistry.broadcasts.send,
  async ({ params, caller, db, access, requireGround, emit, refuse }) => {
    const { message, level, projectId, teamId, expiresInSeconds } = params;
    const [{ at }, project, team, recipients] = await Promise.all([
      access(),
      projectId === undefined ? null : getVisibleProject(db, caller, projectId),
      teamId === undefined ? null : withPathOnNotFound('teamId', getTeamOfBroadcast(db, teamId)),
      countRecipients(db, caller, { projectRef: projectId, teamId }),
    ]);
    if (project === null && caller.projectIds !== null) throw forbidden('bound_token');
    const isToFew = project === null ? team !== null : project.rank >= projectRank('contributor');
    await requireGround(isToFew && 'sendsToFew');
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
    db.deferToCommit(insertBroadcast(row));
    // The event is visible to members who see the project, or to all members without a project. The message
    // to a team is left out of it, because it is for the team only.
    const subject: Subject = {
      type: 'broadcast',
      id: row.id,
      key: null,
      title: team === null ? excerpt(message, maxTitleLength) : `To ${team.name}`,
      projectId: row.project_id,
    };
    emit('broadcast.posted', subject, { level, teamId: row.team_id });
    return { broadcast: toBroadcast(row), recipients };
  },
);
