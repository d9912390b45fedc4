/**
 * The versions of a story's spec. They are inserted and never updated; the story's row has the number of the
 * current one.
 */
import { createHash } from 'node:crypto';
import {
  CursorCount,
  type DB,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Part,
  type Query,
  sql,
} from '@muster/driver';
import { type Actor, type ResultOf, type Spec } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { countLineChanges } from '../rules/spec-lines.ts';

export type SpecRow = Omit<Selectable<DB['story_specs']>, 'org_id'>;

type SpecHistoryPage = ResultOf<BoardRegistry['storySpec']['history']>;

/** Returns the spec before its first version. */
const emptySpec = (storyId: string): Spec => ({
  storyId,
  version: 0,
  content: '',
  contentHash: null,
  author: null,
  importedBy: null,
  importedFrom: null,
  note: null,
  createdAt: null,
});

const toSpecVersion = (row: Omit<SpecRow, 'content' | 'lines_added' | 'lines_removed'>) => ({
  storyId: row.story_id,
  version: row.version,
  contentHash: row.content_hash,
  author: row.author,
  importedBy: row.imported_by,
  importedFrom: row.imported_from,
  note: row.note,
  createdAt: row.created_at,
});

export const toSpec = (row: SpecRow): Spec => ({ ...toSpecVersion(row), content: row.content });

export const specVersionColumns = sql.part`p.story_id, p.version, p.content_hash, p.author, p.imported_by, p.imported_from, p.note, p.created_at, p.lines_added, p.lines_removed`;

/**
 * Reads a version of the spec, by default the current one. Version 0 is the empty spec of every new story.
 */
export async function getSpec(db: Db, storyId: IdOrSql, version?: number): Promise<Spec> {
  const wanted = version === undefined ? sql.part`s.spec_version` : sql.part`${version}::int`;
  type Found = { id: string; wanted: number } & (SpecRow | { [Column in keyof SpecRow]: null });
  const row = await db.find(
    sql<Found>`select s.id, ${wanted} as wanted, ${specVersionColumns}, p.content from stories s
       left join story_specs p on p.org_id = s.org_id and p.story_id = s.id and p.version = ${wanted}
       where ${orgFilter('s')} and s.id = ${storyId}`,
  );
  if (row?.wanted === 0) return emptySpec(row.id);
  if (row === undefined || row.version === null) throw notFound();
  return toSpec(row);
}

/**
 * Returns the condition that the spec of a story has content; an empty or blank spec has none. It checks the
 * beginning first, because Postgres then reads no more of a long text.
 */
export const hasSpec = (story: Part): Part =>
  sql.part`(${story}.spec_version > 0 and exists (select from story_specs b where ${orgFilter('b')} and b.story_id = ${story}.id
    and b.version = ${story}.spec_version and (left(b.content, 100) ~ '\\S' or b.content ~ '\\S')))`;

/** Reports whether a text that will be stored as a spec has content, by the rule of `hasSpec`. */
export const hasSpecContent = (content: string): boolean => /\S/.test(content);

const HistoryCursor = z.tuple([CursorCount]);

/** Lists a page of the versions, newest first, without their content. */
export async function listSpecVersions(
  db: Db,
  storyId: IdOrSql,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<SpecHistoryPage> {
  const before = decodeCursor(page.cursor, HistoryCursor);
  const older = before === undefined ? sql.empty : sql.part`and p.version < ${before[0]}`;
  const rows = await db.all(
    sql<Omit<SpecRow, 'content'>>`select ${specVersionColumns} from story_specs p
       where ${orgFilter('p')} and p.story_id = ${storyId} ${older}
       order by p.version desc limit ${page.limit + 1}`,
  );
  return pageOfRows(
    rows,
    page.limit,
    (row) => [row.version],
    (row) => ({ ...toSpecVersion(row), linesAdded: row.lines_added, linesRemoved: row.lines_removed }),
  );
}

/** The version of a spec that a new version follows. */
export type PreviousSpec = Pick<Spec, 'storyId' | 'version' | 'content'>;

/**
 * Returns the version that the next version of the spec follows. `found` is undefined if the spec was never
 * written.
 */
export const toPreviousSpec = (
  storyId: string,
  previousRow: Pick<SpecRow, 'version' | 'content'> | undefined,
): PreviousSpec =>
  previousRow === undefined
    ? emptySpec(storyId)
    : { storyId, version: previousRow.version, content: previousRow.content };

/** The author's input for the next version. */
export interface SpecDraft {
  readonly content: string;
  readonly author: Actor;
  readonly note: string | null;
  readonly at: string;
}

/** Returns the version after `current` with this content. */
export function nextSpecRow(current: PreviousSpec, draft: SpecDraft): SpecRow {
  const { linesAdded, linesRemoved } = countLineChanges(current.content, draft.content);
  return {
    story_id: current.storyId,
    version: current.version + 1,
    content: draft.content,
    content_hash: createHash('sha256').update(draft.content).digest('hex'),
    lines_added: linesAdded,
    lines_removed: linesRemoved,
    author: draft.author,
    imported_by: null,
    imported_from: null,
    note: draft.note,
    created_at: draft.at,
  };
}

/** Writes a version. The caller updates the story's spec_version. */
export const insertSpecVersion = (row: SpecRow): Query<unknown> =>
  sql`insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author, note, created_at) values (${currentOrgId}, ${row.story_id}, ${row.version}, ${row.content}, ${row.content_hash}, ${row.lines_added}, ${row.lines_removed}, ${row.author}, ${row.note}, ${row.created_at})`;

/** Returns version 1 of a new story's spec. The caller sets its spec_version to 1. */
export const firstSpecRow = (storyId: string, { content, author, at }: Omit<SpecDraft, 'note'>): SpecRow =>
  nextSpecRow(emptySpec(storyId), { content, author, note: null, at });
