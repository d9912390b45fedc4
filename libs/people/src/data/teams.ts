import { type Db, type Param, query, statement } from '@muster/database';

interface TeamOfMember {
  readonly id: string;
  readonly name: string;
  readonly role: 'lead' | 'member';
}

const teamsOfMember = statement((param: Param<{ orgId: string; memberId: string }>) =>
  query
    .selectFrom('team_members as tm')
    .innerJoin('teams as t', (join) =>
      join.onRef('t.org_id', '=', 'tm.org_id').onRef('t.id', '=', 'tm.team_id'),
    )
    .select(['t.id', 't.name', 'tm.role'])
    .where('tm.org_id', '=', param('orgId'))
    .where('tm.member_id', '=', param('memberId'))
    .orderBy('t.name')
    .orderBy('t.id'),
);

/** The teams that a member is in, by name. */
export const listTeamsOfMember = (db: Db, orgId: string, memberId: string): Promise<TeamOfMember[]> =>
  db.all(teamsOfMember({ orgId, memberId }));
