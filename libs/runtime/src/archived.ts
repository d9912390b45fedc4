/** Refuses writes into archived projects. */
import { type Db, sql } from '@muster/driver';
import { type Operation } from '@muster/contract';

/** True if the operation writes into a project and is refused when that project is archived. */
export const isRefusedWhenArchived = ({ effect, access, reachesArchived }: Operation): boolean =>
  effect === 'write' && access.kind === 'project' && !reachesArchived;

/**
 * Returns true if the project is archived. Otherwise it cannot be archived until COMMIT, since archiving
 * waits for this transaction.
 */
export function lockAgainstArchiving(db: Db): Promise<boolean> {
  const answer = db.one(sql<{ archived: boolean }>`select app.hold_open() as archived`);
  const archived = answer.then((row) => row.archived);
  // If the handler throws, no code awaits this promise. The pipeline that carries this statement reports its
  // error.
  archived.catch(() => undefined);
  return archived;
}
