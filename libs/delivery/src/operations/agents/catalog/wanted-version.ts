/** Resolves the version that a reader asks for: the newest, an exact one, or the newest in a range. */
import { type Db } from '@muster/driver';
import { type CatalogVersionRef } from '@muster/contract';
import { badRequest, notFound } from '@muster/runtime';
import { type AgentSelector, listVersions } from '../../../data/catalog.ts';
import { isVersionOrRange, newestVersionInRange } from '../../../rules/catalog-versions.ts';

type FindVersion<Row> = (db: Db, ref: AgentSelector, version: string | undefined) => Promise<Row | undefined>;

/** Loads the wanted version with `find`, and lists all versions. Only a range needs a second query. */
export async function resolveVersion<Row>(
  db: Db,
  { version, ...ref }: AgentSelector & { readonly version?: string | undefined },
  findRow: FindVersion<Row>,
): Promise<{ readonly row: Row; readonly versions: CatalogVersionRef[] }> {
  if (version !== undefined && !isVersionOrRange(version))
    throw badRequest('The version is neither a version nor a range of versions.', [
      { path: 'version', message: 'must be a version such as 1.4.0, or a range such as ^1.2' },
    ]);
  const [exact, versions] = await Promise.all([findRow(db, ref, version), listVersions(db, ref)]);
  if (exact !== undefined) return { row: exact, versions };
  const newest =
    version === undefined
      ? undefined
      : newestVersionInRange(
          versions.map((known) => known.version),
          version,
        );
  const row = newest === undefined ? undefined : await findRow(db, ref, newest);
  if (row === undefined) throw notFound();
  return { row, versions };
}
