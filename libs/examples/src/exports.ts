/** Writes the export that the examples name. */
import { type Makers } from '@muster/testing/world';

interface ExportSetUp {
  readonly orgId: string;
  readonly memberId: string;
  /** The actor as JSON. */
  readonly author: string;
  readonly idOf: (exampleId: string) => string;
}

/** Inserts a complete export of the organization without parts, and returns its id. */
export async function arrangeExport(
  { rows }: Makers,
  { orgId, memberId, author, idOf }: ExportSetUp,
): Promise<string> {
  const id = idOf('01936d5c-0000-7000-8000-0000000000e4');
  await rows(
    `insert into exports (org_id, id, scope, member_id, requested_by, state, progress, records, size, finished_at, expires_at)
     values ($1, $2, 'org', $3, $4, 'done', 100, 1204, 418233, now(), now() + interval '7 days')`,
    ...[orgId, id, memberId, author],
  );
  return id;
}
