/**
 * All changes that remove a right, as plain SQL. The property proves that the database notices such a change,
 * whichever code makes it.
 */

/** The ids that replace `{…}` in the SQL. */
export interface RightsSubject {
  readonly org: string;
  /** The member who loses the right. */
  readonly member: string;
  /** Another member, to whom something is transferred. */
  readonly other: string;
  readonly project: string;
  readonly elsewhere: string;
  readonly team: string;
}

export interface RightsChange {
  readonly name: string;
  /** The trigger that must notice the change, and its table. */
  readonly trigger: string;
  readonly on: string;
  /** The source of the member's right. The project is private unless its visibility is the source. */
  readonly given: 'by visibility' | 'by membership' | 'by team';
  readonly sql: string;
  /** The calls that must be refused after the change: all calls, or only writes. */
  readonly ends: 'all' | 'writes';
}

const noticedBy = (
  trigger: string,
  given: RightsChange['given'],
  ends: RightsChange['ends'],
  statements: Readonly<Record<string, string>>,
): RightsChange[] =>
  Object.entries(statements).map(([name, sql]) => ({
    ...{ name, trigger, given, ends, sql },
    on: /^(?:update|delete from) (\w+)/.exec(sql)?.[1] ?? '',
  }));

export const changes: readonly RightsChange[] = [
  ...noticedBy('tokens_changed', 'by visibility', 'all', {
    'a token is revoked': `update tokens set revoked_at = now() where member_id = {member}`,
    'a token expires': `update tokens set expires_at = now() where member_id = {member}`,
    'a token is bound to another project': `update tokens set project_ids = array[{elsewhere}::uuid] where member_id = {member}`,
  }),
  ...noticedBy('tokens_changed', 'by visibility', 'writes', {
    'a token may only read': `update tokens set scopes = '{read}' where member_id = {member}`,
  }),
  ...noticedBy('tokens_gone', 'by visibility', 'all', {
    'a token is removed': `delete from tokens where member_id = {member}`,
  }),
  ...noticedBy('members_changed', 'by visibility', 'writes', {
    'a member becomes a viewer': `update members set role = 'viewer' where id = {member}`,
  }),
  ...noticedBy('members_changed', 'by membership', 'all', {
    'a member is a member no more': `update members set status = 'removed' where id = {member}`,
  }),
  ...noticedBy('orgs_deleted', 'by visibility', 'all', {
    'an organization is deleted': `update orgs set deleted_at = now() where id = {org}`,
  }),
  ...noticedBy('projects_changed', 'by visibility', 'all', {
    'a project becomes private': `update projects set visibility = 'private' where id = {project}`,
    'a project is deleted': `update projects set deleted_at = now() where id = {project}`,
  }),
  ...noticedBy('projects_gone', 'by visibility', 'all', {
    "a project's row is removed": `delete from projects where id = {project}`,
  }),
  ...noticedBy('project_members_changed', 'by membership', 'writes', {
    'a role in a project sinks': `update project_members set role = 'viewer' where project_id = {project} and member_id = {member}`,
  }),
  ...noticedBy('project_members_gone', 'by membership', 'all', {
    'a role in a project ends': `delete from project_members where project_id = {project} and member_id = {member}`,
  }),
  ...noticedBy('project_teams_changed', 'by team', 'writes', {
    "a team's role in a project sinks": `update project_teams set role = 'viewer' where team_id = {team}`,
  }),
  ...noticedBy('project_teams_gone', 'by team', 'all', {
    'a team leaves a project': `delete from project_teams where team_id = {team}`,
  }),
  ...noticedBy('team_members_changed', 'by team', 'all', {
    'a place in a team is handed on': `update team_members set member_id = {other} where team_id = {team}`,
  }),
  ...noticedBy('team_members_gone', 'by team', 'all', {
    'a member leaves a team': `delete from team_members where team_id = {team}`,
  }),
];

/** Returns the statements that grant the right. */
export const givingOf = ({ given }: RightsChange): readonly string[] => {
  const opens = `update projects set visibility = '${given === 'by visibility' ? 'org' : 'private'}' where id = {project}`;
  // The creator is also the lead by a row of the project's members. The row is deleted, so that the right
  // comes from the organization only.
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

/**
 * Replaces the placeholders in a statement by the quoted ids of the subject. Quoting is safe, because the
 * test generates all ids.
 */
export const about = (sql: string, subject: RightsSubject): string =>
  sql.replaceAll(/\{(\w+)\}/g, (all, name: string) =>
    name in subject ? `'${subject[name as keyof RightsSubject]}'` : all,
  );
