/** Reads the members and agents here that lines of an archive name. */
import { type Db } from '@muster/driver';
import {
  countAgentsOfMembers,
  findAgents,
  findOrgMembersByEmail,
  findParticipantIds,
  type MatchedAgent,
} from '../../../data/import-archive.ts';
import { findMembersByEmail, type MatchedMember } from '../../../data/import-board.ts';
import { type ImportItemRow } from '../../../data/imports.ts';

export interface ArchivedParticipants {
  /** Members by e-mail address in lower case. */
  readonly members: ReadonlyMap<string, MatchedMember>;
  /** Includes retired agents, and those that the put adds. */
  readonly agents: MatchedAgent[];
  /** The number of active agents of members. */
  readonly agentCounts: Map<string, number>;
  /** The ids of members and agents here that can be assigned, review or react. */
  readonly participants: Set<string>;
}

/**
 * Reads the people whom the lines name. Admins may match any member of the organization, others only members who see
 * the project.
 */
export async function readPeople(
  db: Db,
  projectId: string,
  {
    emails,
    agents: archivedAgents,
    earlierItems: noted,
    writesForMembers,
  }: {
    readonly emails: readonly string[];
    readonly agents: readonly { readonly slug: string; readonly name: string }[];
    readonly earlierItems: ReadonlyMap<string, ImportItemRow>;
    readonly writesForMembers: boolean;
  },
): Promise<ArchivedParticipants> {
  const idsOf = (kind: 'member' | 'agent') =>
    [...noted.values()].flatMap((note) => (note.kind === kind ? note.record_id : []));
  const [members, agents] = await Promise.all([
    writesForMembers && emails.length > 0
      ? findOrgMembersByEmail(db, emails)
      : findMembersByEmail(db, projectId, emails),
    archivedAgents.length > 0
      ? findAgents(db, {
          slugs: archivedAgents.map(({ slug }) => slug),
          names: archivedAgents.map(({ name }) => name),
          ids: idsOf('agent'),
        })
      : [],
  ]);
  const memberIds = [...idsOf('member'), ...[...members.values()].map(({ id }) => id)];
  const ids = [...memberIds, ...idsOf('agent'), ...agents.map(({ id }) => id)];
  const [participants, agentCounts] = await Promise.all([
    ids.length === 0 ? [] : findParticipantIds(db, projectId, ids),
    archivedAgents.length === 0 ? new Map<string, number>() : countAgentsOfMembers(db, memberIds),
  ]);
  return { members, agents, agentCounts, participants: new Set(participants) };
}
