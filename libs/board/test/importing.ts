/** Reads everything that an import may write, for comparison in specs. */

const tables = [
  'stories',
  'epics',
  'comments',
  'story_specs',
  'assignments',
  'story_blockers',
  'import_items',
];

/**
 * Reads all rows of an organization, but not their column import_id, which changes with every import. `rows`
 * is the function of the test world.
 */
export const allOf = (
  { rows }: { rows: (sql: string, ...parameters: unknown[]) => Promise<unknown[]> },
  orgId: string,
): Promise<unknown[][]> =>
  Promise.all(
    tables.map((table) =>
      rows(
        `select to_jsonb(t) - 'import_id' as row from ${table} t where org_id = $1 order by t::text`,
        orgId,
      ),
    ),
  );
