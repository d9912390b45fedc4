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

const change = (
  name: string,
  given: Change['given'],
  ends: Change['ends'],
  trigger: string,
  sql: string,
): Change => ({
  ...{ name, given, ends, trigger, sql },
  on: /^(?:update|delete from) (\w+)/.exec(sql)?.[1] ?? '',
});

export const changes: readonly Change[] = [
  change(
    'a token is revoked',
    'by visibility',
    'all',
    'tokens_changed',
    `update tokens set revoked_at = now() where member_id = {member}`,
  ),
  change(
    'a token expires',
    'by visibility',
    'all',
    'tokens_changed',
    `update tokens set expires_at = now() where member_id = {member}`,
  ),
  change(
    'a token may only read',
    'by visibility',
    'writes',
    'tokens_changed',
    `update tokens set scopes = '{read}' where member_id = {member}`,
  ),
  change(
    'a token is bound to another project',
    'by visibility',
    'all',
    'tokens_changed',
    `update tokens set project_ids = array[{elsewhere}::uuid] where member_id = {member}`,
  ),
  change(
    'a token is removed',
    'by visibility',
    'all',
    'tokens_gone',
    `delete from tokens where member_id = {member}`,
  ),
  change(
    'a member becomes a viewer',
    'by visibility',
    'writes',
    'members_changed',
    `update members set role = 'viewer' where id = {member}`,
  ),
  change(
    'a member is a member no more',
    'by membership',
    'all',
    'members_changed',
    `update members set status = 'removed' where id = {member}`,
  ),
  change(
    'an organization is deleted',
    'by visibility',
    'all',
    'orgs_deleted',
    `update orgs set deleted_at = now() where id = {org}`,
  ),
  change(
    'a project becomes private',
    'by visibility',
    'all',
    'projects_changed',
    `update projects set visibility = 'private' where id = {project}`,
  ),
  change(
    'a project is deleted',
    'by visibility',
    'all',
    'projects_changed',
    `update projects set deleted_at = now() where id = {project}`,
  ),
  change(
    "a project's row is removed",
    'by visibility',
    'all',
    'projects_gone',
    `delete from projects where id = {project}`,
  ),
  change(
    'a role in a project sinks',
    'by membership',
    'writes',
    'project_members_changed',
    `update project_members set role = 'viewer' where project_id = {project} and member_id = {member}`,
  ),
  change(
    'a role in a project ends',
    'by membership',
    'all',
    'project_members_gone',
    `delete from project_members where project_id = {project} and member_id = {member}`,
  ),
  change(
    "a team's role in a project sinks",
    'by team',
    'writes',
    'project_teams_changed',
    `update project_teams set role = 'viewer' where team_id = {team}`,
  ),
  change(
    'a team leaves a project',
    'by team',
    'all',
    'project_teams_gone',
    `delete from project_teams where team_id = {team}`,
  ),
  change(
    'a place in a team is handed on',
    'by team',
    'all',
    'team_members_changed',
    `update team_members set member_id = {other} where team_id = {team}`,
  ),
  change(
    'a member leaves a team',
    'by team',
    'all',
    'team_members_gone',
    `delete from team_members where team_id = {team}`,
  ),
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
