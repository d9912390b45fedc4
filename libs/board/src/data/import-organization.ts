/** Reads and writes the records of the organization that an import takes from an archive. */
import { currentOrgId, type Db, orgFilter, type Part, type Query, sql } from '@muster/driver';
import { type ProjectRole } from '@muster/contract';
import { type ImportItemKind, type ImportRow } from './imports.ts';

/** Serializes the imports of an organization that write its teams, prompts or views. */
export const lockOrganizationImports = (db: Db): Promise<unknown> =>
  db.all(sql`select pg_advisory_xact_lock(hashtextextended('imports ' || ${currentOrgId}::text, 0))`);

/** A record of the organization that could be the counterpart of a line. */
export interface OrganizationRecord {
  readonly id: string;
  /** The name of the line, or the slug. For a view, it is its id in the archive. */
  readonly name: string;
  /** The ids in archives of the records that were imported as this one. */
  readonly archive_ids: readonly string[];
}

const archiveIdsSql = (kind: ImportItemKind, recordId: Part): Part =>
  sql.part`array(select distinct i.external_id from import_items i where ${orgFilter('i')} and i.record_id = ${recordId} and i.kind = ${kind})`;

/** Finds the teams with these names, which are unique regardless of case. */
export const findTeamsByName = (db: Db, names: readonly string[]): Promise<OrganizationRecord[]> =>
  db.all(
    sql<OrganizationRecord>`select t.id, w.name, ${archiveIdsSql('team', sql.part`t.id`)} as archive_ids
       from unnest(${names}::text[]) w (name) join teams t on ${orgFilter('t')} and lower(t.name) = lower(w.name)`,
  );

/** Finds the prompts of the organization with these slugs. */
export const findOrganizationPrompts = (db: Db, slugs: readonly string[]): Promise<OrganizationRecord[]> =>
  db.all(
    sql<OrganizationRecord>`select p.id, p.slug as name, ${archiveIdsSql('prompt', sql.part`p.id`)} as archive_ids
       from prompts p where ${orgFilter('p')} and p.project_id is null and p.slug = any (${slugs}::text[])`,
  );

/** Finds the views of these members for all projects that were imported as one of these records of an archive. */
export const findImportedViews = (
  db: Db,
  ownerIds: readonly string[],
  archiveIds: readonly string[],
): Promise<OrganizationRecord[]> =>
  db.all(
    sql<OrganizationRecord>`select w.id, i.external_id as name, array[i.external_id] as archive_ids
       from views w join import_items i on ${orgFilter('i')} and i.record_id = w.id and i.kind = 'view'
       where ${orgFilter('w')} and w.owner_id = any (${ownerIds}::uuid[]) and w.project_id is null
         and i.external_id = any (${archiveIds}::text[])`,
  );

/** Gives roles in a project to teams without a role in it. */
export const insertProjectTeams = (
  projectId: string,
  teams: readonly { readonly teamId: string; readonly role: ProjectRole }[],
): Query<unknown> =>
  sql`insert into project_teams (org_id, project_id, team_id, role)
     select ${currentOrgId}, ${projectId}::uuid, t.id, w.role
     from unnest(${teams.map(({ teamId }) => teamId)}::uuid[], ${teams.map(({ role }) => role)}::text[]) w (team_id, role)
     join teams t on ${orgFilter('t')} and t.id = w.team_id
     on conflict (org_id, project_id, team_id) do nothing`;

/** A team or an agent that an import created. */
export interface CreatedOrganizationRecord {
  readonly id: string;
  readonly kind: 'team' | 'agent';
  readonly importedAt: string;
}

/** Returns the agents that the import created, and those of its teams that were not renamed or described since. */
export const findCreatedOrganizationRecords = (
  db: Db,
  { id }: ImportRow,
): Promise<CreatedOrganizationRecord[]> =>
  db.all(
    sql<CreatedOrganizationRecord>`select i.record_id as id, i.kind, i.created_at as "importedAt"
       from import_items i left join teams t on ${orgFilter('t')} and t.id = i.record_id
       where ${orgFilter('i')} and i.made_by = ${id} and (i.kind = 'agent' or i.kind = 'team' and t.version = i.record_version)`,
  );

/** Deletes what imports noted about those of the teams and agents that no longer exist. */
export const deleteNotesOfDeleted = (ids: readonly string[]): Query<unknown> =>
  sql`delete from import_items i where ${orgFilter('i')} and i.record_id = any (${ids}::uuid[]) and i.kind in ('team', 'agent')
     and not exists (select from teams t where ${orgFilter('t')} and t.id = i.record_id)
     and not exists (select from agents a where ${orgFilter('a')} and a.id = i.record_id)`;
