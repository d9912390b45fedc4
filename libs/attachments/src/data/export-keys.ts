/** Reads the random value from which the keys of exports are derived. */
import { type Pool, queryOutsideOrg, sql } from '@muster/driver';
import { deriveExportKeys, type ExportPublicKey } from '../rules/export-keys.ts';

/** Returns the keys of an installation. `pool` is the primary database. The first key signs. */
export async function loadExportKeys(
  pool: Pool,
  secretsKeys: readonly string[],
): Promise<ReturnType<typeof deriveExportKeys>> {
  const [row] = await queryOutsideOrg(pool, sql<{ salt: string }>`select app.export_salt() as salt`);
  if (row === undefined) throw new Error('the database has no key for exports');
  return deriveExportKeys(secretsKeys, row.salt);
}

/** Returns the document that an installation publishes. */
export const loadPublishedExportKeys = async (
  pool: Pool,
  secretsKeys: readonly string[],
): Promise<{ keys: ExportPublicKey[] }> => ({
  keys: (await loadExportKeys(pool, secretsKeys)).map(({ published }) => published),
});
