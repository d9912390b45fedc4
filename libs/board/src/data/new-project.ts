/** A project as it comes into being, with what each has from its first moment: counters, a lead, a board. */
import { type Db, organization, sql } from '@muster/driver';
import { type Caller } from '@muster/runtime';
import { boardColumns, type ColumnRow } from './columns.ts';
import { convertedProjects, insertLead, type ProjectRow } from './projects.ts';

/** What a new project brings along. */
interface Contents {
  readonly columns: readonly ColumnRow[];
  readonly lastStoryNumber: number;
  readonly canceledStories: number;
  /** What it was converted from, and the answer to be given for that again. */
  readonly local: {
    readonly id: string;
    readonly mapping: { readonly epics: Record<string, string>; readonly stories: Record<string, string> };
  } | null;
}

/** Writes a new project with its contents; the caller becomes its lead. */
export function setNewProject(db: Db, { memberId }: Caller, project: ProjectRow, contents: Contents): void {
  const { local } = contents;
  db.later(
    convertedProjects.insert({
      ...project,
      local_project_id: local?.id ?? null,
      conversion: local?.mapping ?? null,
    }),
  );
  db.later(
    sql`insert into project_counters (org_id, project_id, last_story_number, canceled_stories) values (${organization}, ${project.id}, ${contents.lastStoryNumber}, ${contents.canceledStories})`,
  );
  db.later(insertLead(project, memberId));
  db.later(boardColumns.insert(contents.columns));
}
