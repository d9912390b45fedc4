/** For specs: all that an import may write, to be compared. */

const tables = [
  'stories',
  'epics',
  'comments',
  'story_specs',
  'assignments',
  'story_blockers',
  'import_items',
];

/** All of it in an organization, but for what says which import put it last; `rows` is the world's. */
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
