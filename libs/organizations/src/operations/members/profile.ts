import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { getMemberStats, listProjectsOfMember } from '../../data/member-lists.ts';
import { listAgentsOfMember } from '../../data/agents.ts';
import { getMember } from '../../data/members.ts';
import { listTeamsOfMember } from '../../data/teams.ts';

/** All queries are sent in the same tick, so they take one round trip. */
export const profile = handle(organizationsRegistry.members.profile, async ({ params, caller, db }) => {
  const { memberId = caller.memberId } = params;
  const [member, agents, teams, projects, stats] = await Promise.all([
    getMember(db, memberId),
    listAgentsOfMember(db, memberId),
    listTeamsOfMember(db, memberId),
    listProjectsOfMember(db, caller, memberId),
    getMemberStats(db, caller, memberId),
  ]);
  return { member, agents, teams, projects, stats };
});
