/** Writes the import that the examples name, which has begun. */
import { type Makers } from '@muster/testing/world';

interface ImportSetUp {
  readonly orgId: string;
  readonly projectId: string;
  /** The actor as JSON. */
  readonly author: string;
  /** Returns the id that the example names, or a new one. */
  readonly idOf: (exampleId: string) => string;
}

/** Inserts the import, and returns its id. */
export async function arrangeImport(
  { rows }: Makers,
  { orgId, projectId, author, idOf }: ImportSetUp,
): Promise<string> {
  const id = idOf('01936d5c-0000-7000-8000-0000000000c0');
  await rows(
    `insert into imports (org_id, id, project_id, provider, name, begun_by) values ($1, $2, $3, 'jira', 'Of Jira', $4)`,
    orgId,
    id,
    projectId,
    author,
  );
  return id;
}
