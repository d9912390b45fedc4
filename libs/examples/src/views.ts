/** Writes the saved view that the examples name. */
import { type Makers } from '@muster/testing/world';

interface ViewSetUp {
  readonly orgId: string;
  readonly projectId: string;
  readonly ownerId: string;
  readonly idOf: (exampleId: string) => string;
}

/** Inserts a shared view of a project, and returns its id. */
export async function arrangeView(
  { rows }: Makers,
  { orgId, projectId, ownerId, idOf }: ViewSetUp,
): Promise<string> {
  const id = idOf('01936d5c-0000-7000-8000-0000000000e0');
  await rows(
    `insert into views (org_id, id, owner_id, project_id, name, layout, filter, sort, columns, shared)
     values ($1, $2, $3, $4, 'Ready', 'list', '{"status":"ready"}', 'updated', '{}', true)`,
    orgId,
    id,
    ownerId,
    projectId,
  );
  return id;
}
