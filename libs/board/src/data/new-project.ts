/** Writes a new project with its counters, its lead and its board. */
import { type Db, currentOrgId, sql } from '@muster/driver';
import { type Caller } from '@muster/runtime';
import { boardColumns, type ColumnRow } from './columns.ts';
import { convertedProjects, insertLead, type ProjectRow } from './projects.ts';

/** The initial content of a new project. */
interface InitialProjectContents {
  readonly columns: readonly ColumnRow[];
  readonly lastStoryNumber: number;
  readonly canceledStories: number;
  /**
   * The local board that the project was converted from, with the mapping of IDs that a repeated conversion
   * returns. Null for any other project.
   */
  readonly localBoard: {
    readonly id: string;
    readonly mapping: { readonly epics: Record<string, string>; readonly stories: Record<string, string> };
  } | null;
}

/** Writes a new project with its content. The caller becomes its lead. */
export function insertNewProject(
  db: Db,
  { memberId }: Caller,
  project: ProjectRow,
  contents: InitialProjectContents,
): void {
  const { localBoard } = contents;
  db.deferToCommit(
    convertedProjects.insert({
      ...project,
      local_project_id: localBoard?.id ?? null,
      conversion: localBoard?.mapping ?? null,
    }),
  );
  db.deferToCommit(
    sql`insert into project_counters (org_id, project_id, last_story_number, canceled_stories) values (${currentOrgId}, ${project.id}, ${contents.lastStoryNumber}, ${contents.canceledStories})`,
  );
  db.deferToCommit(insertLead(project, memberId));
  db.deferToCommit(boardColumns.insert(contents.columns));
}
