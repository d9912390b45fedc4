/** Archived projects, into which nothing is written. */
import { type Db, sql } from '@muster/driver';
import { type Operation } from '@muster/registry';

/** Whether it writes into a project, and may not where that is archived. */
export const isBarred = ({ effect, access, reachesArchived }: Operation): boolean =>
  effect === 'write' && access.kind === 'project' && !reachesArchived;

/** Whether the project is archived; where it is not, it stays so until COMMIT, since archiving waits for it. */
export function holdOpen(session: Db): Promise<boolean> {
  const answer = session.one(sql<{ archived: boolean }>`select app.hold_open() as archived`);
  const archived = answer.then((row) => row.archived);
  // A handler that throws is not waited with; the burst in which both went out says what was wrong.
  archived.catch(() => undefined);
  return archived;
}
