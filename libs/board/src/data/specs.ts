/** The versions of a story's spec. They are added, never rewritten; the story's row says which one is current. */
import { createHash } from 'node:crypto';
import {
  CursorCount,
  type DB,
  type Db,
  decodeCursor,
  type Id,
  of,
  organization,
  pageOfRows,
  type Part,
  type Query,
  sql,
} from '@muster/driver';
import { type Actor, type Registry, type ResultOf, type Spec } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { lineChanges } from '../rules/spec-lines.ts';

type SpecRow = Omit<Selectable<DB['story_specs']>, 'org_id'>;

type History = ResultOf<Registry['storySpec']['history']>;

/** What a spec is before its first version. */
const unwritten = (storyId: string): Spec => ({
  storyId,
  version: 0,
  content: '',
  contentHash: null,
  author: null,
  note: null,
  createdAt: null,
});

const toEntry = (row: Omit<SpecRow, 'content' | 'lines_added' | 'lines_removed'>) => ({
  storyId: row.story_id,
  version: row.version,
  contentHash: row.content_hash,
  author: row.author,
  note: row.note,
  createdAt: row.created_at,
});

export const toSpec = (row: SpecRow): Spec => ({ ...toEntry(row), content: row.content });

const entryColumns = sql.part`p.story_id, p.version, p.content_hash, p.author, p.note, p.created_at, p.lines_added, p.lines_removed`;

/** A version of the spec, the current one unless said; version 0 is the empty one that each story begins with. */
export async function getSpec(db: Db, storyId: Id, version?: number): Promise<Spec> {
  const wanted = version === undefined ? sql.part`s.spec_version` : sql.part`${version}::int`;
  type Found = { id: string; wanted: number } & (SpecRow | { [Column in keyof SpecRow]: null });
  const row = await db.find(
    sql<Found>`select s.id, ${wanted} as wanted, ${entryColumns}, p.content from stories s
       left join story_specs p on p.org_id = s.org_id and p.story_id = s.id and p.version = ${wanted}
       where ${of('s')} and s.id = ${storyId}`,
  );
  if (row?.wanted === 0) return unwritten(row.id);
  if (row === undefined || row.version === null) throw notFound();
  return toSpec(row);
}

/**
 * SQL for whether the spec of a story says something: an empty one, or a blank one, is as good as none. Its beginning is
 * looked at first: of a long one Postgres reads no more then.
 */
export const hasSpec = (story: Part): Part =>
  sql.part`(${story}.spec_version > 0 and exists (select from story_specs b where ${of('b')} and b.story_id = ${story}.id
    and b.version = ${story}.spec_version and (left(b.content, 100) ~ '\\S' or b.content ~ '\\S')))`;

/** The same of what is to be written. */
export const saysSomething = (content: string): boolean => /\S/.test(content);

const HistoryCursor = z.tuple([CursorCount]);

/** A page of the versions, newest first, without their content. */
export async function listSpecVersions(
  db: Db,
  storyId: Id,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<History> {
  const before = decodeCursor(page.cursor, HistoryCursor);
  const older = before === undefined ? sql.empty : sql.part`and p.version < ${before[0]}`;
  const rows = await db.all(
    sql<Omit<SpecRow, 'content'>>`select ${entryColumns} from story_specs p
       where ${of('p')} and p.story_id = ${storyId} ${older}
       order by p.version desc limit ${page.limit + 1}`,
  );
  return pageOfRows(
    rows,
    page.limit,
    (row) => [row.version],
    (row) => ({ ...toEntry(row), linesAdded: row.lines_added, linesRemoved: row.lines_removed }),
  );
}

/** What a version follows. */
export type SpecBefore = Pick<Spec, 'storyId' | 'version' | 'content'>;

/** What the next version of a story's spec follows; `found` is missing where it was never written. */
export const specBefore = (
  storyId: string,
  found: Pick<SpecRow, 'version' | 'content'> | undefined,
): SpecBefore =>
  found === undefined ? unwritten(storyId) : { storyId, version: found.version, content: found.content };

/** What an author writes as the next version. */
export interface Draft {
  readonly content: string;
  readonly author: Actor;
  readonly note: string | null;
  readonly at: string;
}

/** The version that follows `current` with this content. */
export function nextSpec(current: SpecBefore, draft: Draft): SpecRow {
  const { linesAdded, linesRemoved } = lineChanges(current.content, draft.content);
  return {
    story_id: current.storyId,
    version: current.version + 1,
    content: draft.content,
    content_hash: createHash('sha256').update(draft.content).digest('hex'),
    lines_added: linesAdded,
    lines_removed: linesRemoved,
    author: draft.author,
    note: draft.note,
    created_at: draft.at,
  };
}

/** Writes a version; the story's spec_version is the caller's to move with it. */
export const setSpec = (row: SpecRow): Query<unknown> =>
  sql`insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author, note, created_at) values (${organization}, ${row.story_id}, ${row.version}, ${row.content}, ${row.content_hash}, ${row.lines_added}, ${row.lines_removed}, ${row.author}, ${row.note}, ${row.created_at})`;

/** Version 1 of the spec of a story that is born with one; its spec_version has to be 1. */
export const firstSpecRow = (storyId: string, { content, author, at }: Omit<Draft, 'note'>): SpecRow =>
  nextSpec(unwritten(storyId), { content, author, note: null, at });
