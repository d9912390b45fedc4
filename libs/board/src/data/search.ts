/** Full-text search. The SQL function app.find (libs/migrations/functions/search.sql) decides about hits and their order. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { SearchHitKind, type SearchHit, type ParamsOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Caller } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { buildSnippet } from '../rules/snippet.ts';

interface SearchHitRow {
  readonly id: string;
  readonly kind: SearchHitKind;
  readonly grade: number;
  readonly slips: string[] | null;
  readonly number: number | null;
  readonly project_key: string | null;
  readonly project_id: string | null;
  readonly title: string;
  readonly excerpt: string;
}

/** The scores by grade, from -1 (the key of a story) to 9 (misspelled words in a text). */
const scores = [1, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1] as const;
const scoreOf = (grade: number): number => scores[grade + 1] ?? 0;

const toFoundRecord = (row: SearchHitRow, searchText: string, corrections: readonly string[]): SearchHit => ({
  type: row.kind,
  id: row.id,
  key: row.project_key === null || row.number === null ? null : `${row.project_key}-${row.number}`,
  title: row.title,
  snippet: buildSnippet(row.title, row.excerpt, { searchText, corrections }),
  projectId: row.project_id,
  score: scoreOf(row.grade),
});

export async function findRecords(
  db: Db,
  caller: Caller,
  { query, kinds, projectId, limit }: ParamsOf<BoardRegistry['search']['find']>,
): Promise<SearchHit[]> {
  const project = projectId === undefined ? sql.part`null::uuid` : projectIdSql(projectId);
  const rows = await db.all(
    sql<SearchHitRow>`select f.id, f.kind, f.grade, f.slips, s.number, p.key as project_key, coalesce(s.project_id, e.project_id) as project_id,
        coalesce(s.title, e.title, m.name) as title, coalesce(app.excerpt(t.written, ${query}, f.slips), '') as excerpt
      from app.find(${caller.memberId}::uuid, ${caller.tokenId}::uuid, ${project}, ${kinds ?? SearchHitKind.options}::text[], ${query}, ${limit}) f
      left join comments c on ${orgFilter('c')} and c.id = f.id and f.kind = 'comment'
      left join stories s on ${orgFilter('s')} and s.id = case f.kind when 'story' then f.id when 'spec' then f.id when 'comment' then c.story_id end
      left join projects p on ${orgFilter('p')} and p.id = s.project_id
      left join epics e on ${orgFilter('e')} and e.id = f.id and f.kind = 'epic'
      left join members m on ${orgFilter('m')} and m.id = f.id and f.kind = 'member'
      left join story_specs v on ${orgFilter('v')} and v.story_id = f.id and v.version = s.spec_version and f.kind = 'spec'
      cross join lateral (select case f.kind when 'story' then s.description when 'spec' then v.content when 'comment' then c.body
        when 'epic' then e.description else '@' || m.handle end as written) t
      order by f.nth`,
  );
  const slips = rows[0]?.slips ?? [];
  return rows.map((row) => toFoundRecord(row, query, slips));
}
