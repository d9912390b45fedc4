/** Reads the members and agents here that lines of an archive name. */
import { type Db } from '@muster/driver';
import {
  findAgentsBySlug,
  findOrgMembersByEmail,
  findParticipantIds,
  type MatchedAgent,
} from '../../../data/import-archive.ts';
import { findMembersByEmail, type MatchedMember } from '../../../data/import-board.ts';
import { type ImportItemRow } from '../../../data/imports.ts';

export interface ArchivedParticipants {
  /** Members by e-mail address in lower case. */
  readonly members: ReadonlyMap<string, MatchedMember>;
  readonly agents: readonly MatchedAgent[];
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
    slugs,
    noted,
    writesForMembers,
  }: {
    readonly emails: readonly string[];
    readonly slugs: readonly string[];
    readonly noted: ReadonlyMap<string, ImportItemRow>;
    readonly writesForMembers: boolean;
  },
): Promise<ArchivedParticipants> {
  const [members, agents] = await Promise.all([
    writesForMembers && emails.length > 0
      ? findOrgMembersByEmail(db, emails)
      : findMembersByEmail(db, projectId, emails),
    slugs.length > 0 ? findAgentsBySlug(db, slugs) : [],
  ]);
  const known = [...noted.values()].flatMap(({ kind, record_id: id }) =>
    kind === 'member' || kind === 'agent' ? id : [],
  );
  const ids = [...known, ...[...members.values()].map(({ id }) => id), ...agents.map(({ id }) => id)];
  const participants = ids.length === 0 ? [] : await findParticipantIds(db, projectId, ids);
  return { members, agents, participants: new Set(participants) };
}
