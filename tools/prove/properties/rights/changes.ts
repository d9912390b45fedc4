/** Each way in which a right is taken away, as plain SQL: what is proven is that the database notices, not that we do. */

/** What SQL is about: the values of `{…}` in it. */
export interface Subject {
  readonly org: string;
  /** Who loses the right. */
  readonly member: string;
  /** Somebody else, for what is handed on. */
  readonly other: string;
  readonly project: string;
  readonly elsewhere: string;
  readonly team: string;
}

export interface Change {
  readonly name: string;
  /** The guard that must notice: a trigger, and its table. */
  readonly trigger: string;
  readonly on: string;
  /** How the member came to have the right. The project is private unless it is by that. */
  readonly given: 'by visibility' | 'by membership' | 'by team';
  readonly sql: string;
  /** What is over: all that the member does there, or writing alone. */
  readonly ends: 'all' | 'writes';
}

const tokens = { trigger: 'tokens_changed', on: 'tokens', given: 'by visibility' } as const;

export const changes: readonly Change[] = [
  {
    ...{ ...tokens, name: 'a token is revoked', ends: 'all' },
    sql: `update tokens set revoked_at = now() where member_id = {member}`,
  },
  {
    ...{ ...tokens, name: 'a token expires', ends: 'all' },
    sql: `update tokens set expires_at = now() where member_id = {member}`,
  },
  {
    ...{ ...tokens, name: 'a token may only read', ends: 'writes' },
    sql: `update tokens set scopes = '{read}' where member_id = {member}`,
  },
  {
    ...{ ...tokens, name: 'a token is bound to another project', ends: 'all' },
    sql: `update tokens set project_ids = array[{elsewhere}::uuid] where member_id = {member}`,
  },
  {
    ...{
      name: 'a token is removed',
      trigger: 'tokens_gone',
      on: 'tokens',
      given: 'by visibility',
      ends: 'all',
    },
    sql: `delete from tokens where member_id = {member}`,
  },
  {
    ...{
      name: 'a member becomes a viewer',
      trigger: 'members_changed',
      on: 'members',
      given: 'by visibility',
    },
    sql: `update members set role = 'viewer' where id = {member}`,
    ends: 'writes',
  },
  {
    ...{
      name: 'a member is a member no more',
      trigger: 'members_changed',
      on: 'members',
      given: 'by membership',
    },
    sql: `update members set status = 'removed' where id = {member}`,
    ends: 'all',
  },
  {
    ...{ name: 'an organization is deleted', trigger: 'orgs_deleted', on: 'orgs', given: 'by visibility' },
    sql: `update orgs set deleted_at = now() where id = {org}`,
    ends: 'all',
  },
  {
    ...{
      name: 'a project becomes private',
      trigger: 'projects_changed',
      on: 'projects',
      given: 'by visibility',
    },
    sql: `update projects set visibility = 'private' where id = {project}`,
    ends: 'all',
  },
  {
    ...{ name: 'a project is deleted', trigger: 'projects_changed', on: 'projects', given: 'by visibility' },
    sql: `update projects set deleted_at = now() where id = {project}`,
    ends: 'all',
  },
  {
    ...{
      name: "a project's row is removed",
      trigger: 'projects_gone',
      on: 'projects',
      given: 'by visibility',
    },
    sql: `delete from projects where id = {project}`,
    ends: 'all',
  },
  {
    ...{ name: 'a role in a project sinks', trigger: 'project_members_changed', on: 'project_members' },
    ...{ given: 'by membership', ends: 'writes' },
    sql: `update project_members set role = 'viewer' where project_id = {project} and member_id = {member}`,
  },
  {
    ...{ name: 'a role in a project ends', trigger: 'project_members_gone', on: 'project_members' },
    ...{ given: 'by membership', ends: 'all' },
    sql: `delete from project_members where project_id = {project} and member_id = {member}`,
  },
  {
    ...{ name: "a team's role in a project sinks", trigger: 'project_teams_changed', on: 'project_teams' },
    ...{ given: 'by team', ends: 'writes' },
    sql: `update project_teams set role = 'viewer' where team_id = {team}`,
  },
  {
    ...{ name: 'a team leaves a project', trigger: 'project_teams_gone', on: 'project_teams' },
    ...{ given: 'by team', ends: 'all' },
    sql: `delete from project_teams where team_id = {team}`,
  },
  {
    ...{ name: 'a place in a team is handed on', trigger: 'team_members_changed', on: 'team_members' },
    ...{ given: 'by team', ends: 'all' },
    sql: `update team_members set member_id = {other} where team_id = {team}`,
  },
  {
    ...{ name: 'a member leaves a team', trigger: 'team_members_gone', on: 'team_members' },
    ...{ given: 'by team', ends: 'all' },
    sql: `delete from team_members where team_id = {team}`,
  },
];

/** The statements that give the right. */
export const givingOf = ({ given }: Change): readonly string[] => {
  const opens = `update projects set visibility = '${given === 'by visibility' ? 'org' : 'private'}' where id = {project}`;
  // Who made it leads it; by the role in the organization as well, so that nothing hangs on that row.
  if (given === 'by visibility') return [opens, `delete from project_members where project_id = {project}`];
  if (given === 'by membership')
    return [
      opens,
      `insert into project_members (org_id, project_id, member_id, role) values ({org}, {project}, {member}, 'contributor')`,
    ];
  return [
    opens,
    `insert into teams (org_id, id, name) values ({org}, {team}, 'Team')`,
    `insert into project_teams (org_id, project_id, team_id, role) values ({org}, {project}, {team}, 'contributor')`,
    `insert into team_members (org_id, team_id, member_id, role) values ({org}, {team}, {member}, 'member')`,
  ];
};

/** A statement about somebody: all values are ids of ours. */
export const about = (sql: string, subject: Subject): string =>
  sql.replaceAll(/\{(\w+)\}/g, (all, name: string) =>
    name in subject ? `'${subject[name as keyof Subject]}'` : all,
  );
