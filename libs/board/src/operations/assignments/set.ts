import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import {
  type Assignees,
  deleteAssignment,
  lockAssignment,
  setAssignment,
  toAssignment,
  emptyAssignment,
} from '../../data/assignments.ts';
import { lockAgent, lockMember, requireParticipant } from '../../data/participants.ts';
import { lockTarget } from '../../data/targets.ts';

export const set = handle(
  boardRegistry.assignments.set,
  async ({ params, targetId, caller, db, access, emit, refuse }) => {
    const { targetType, memberId, agentId } = params;
    const [{ at }, target, foundMember, foundAgent, current] = await Promise.all([
      access(),
      lockTarget(db, { targetType, targetId }),
      memberId == null ? undefined : lockMember(db, memberId),
      agentId == null ? undefined : lockAgent(db, agentId),
      lockAssignment(db, { targetType, targetId }),
    ]);
    let { member, agent }: Assignees = current;
    if (memberId === null) member = null;
    else if (memberId !== undefined) {
      const { id, name, handle: handleName } = requireParticipant(foundMember, refuse, 'memberId');
      member = { id, name, handle: handleName };
    }
    if (agentId === null) agent = null;
    else if (agentId !== undefined) {
      const { id, name } = requireParticipant(foundAgent, refuse, 'agentId');
      agent = { id, name };
    }

    if (member?.id === current.member?.id && agent?.id === current.agent?.id)
      return { assignment: toAssignment(targetType, target, current) };
    const previous = {
      previousMemberId: current.member?.id ?? null,
      previousAgentId: current.agent?.id ?? null,
    };
    if (member === null && agent === null) {
      db.deferToCommit(deleteAssignment({ targetType, targetId: target.id }));
      emit('assignment.cleared', target, previous);
      return { assignment: toAssignment(targetType, target, emptyAssignment) };
    }
    const assignment = toAssignment(targetType, target, {
      member,
      agent,
      assignedBy: caller.actor,
      createdAt: current.createdAt ?? at,
      updatedAt: at,
    });
    db.deferToCommit(setAssignment(assignment));
    emit('assignment.changed', target, {
      memberId: member?.id ?? null,
      agentId: agent?.id ?? null,
      ...previous,
    });
    return { assignment };
  },
);
