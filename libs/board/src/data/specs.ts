/** The versions of a story's spec. They are added, never rewritten; the story's row says which one is current. */
import { createHash } from 'node:crypto';
import {
  type DB,
  type Db,
  decodeCursor,
  pageOfRows,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
  Values,
} from '@muster/database';
import { type Actor, type Registry, type ResultOf, type Spec } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { lineChanges } from '../rules/spec-lines.ts';

type SpecRow = Omit<Selectable<DB['story_specs']>, 'org_id'>;
type NewSpecRow = Selectable<DB['story_specs']>;

type History = ResultOf<Registry['storySpec']['history']>;

/** What a spec is before anybody wrote it. */
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

const entryColumns =
  'p.story_id, p.version, p.content_hash, p.author, p.note, p.created_at, p.lines_added, p.lines_removed';

/** A version of the spec, the current one unless said; version 0 is the empty one that each story begins with. */
export async function getSpec(db: Db, orgId: string, storyRef: string, version?: number): Promise<Spec> {
  const values = new Values(orgId);
  const story = values.storyId(storyRef);
  const wanted = version === undefined ? 's.spec_version' : `${values.$(version)}::int`;
  type Found = { id: string; wanted: number } & (SpecRow | { [Column in keyof SpecRow]: null });
  const row = await db.find(
    sqlQuery<Found>(
      `select s.id, ${wanted} as wanted, ${entryColumns}, p.content from stories s
       left join story_specs p on p.org_id = s.org_id and p.story_id = s.id and p.version = ${wanted}
       where s.org_id = ${values.org} and s.id = ${story}`,
      values.list,
    ),
  );
  if (row?.wanted === 0) return unwritten(row.id);
  if (row === undefined || row.version === null) throw notFound();
  return toSpec(row);
}

const HistoryCursor = z.tuple([z.int32().min(1)]);

/** A page of the versions, newest first, without their content. */
export async function listSpecVersions(
  db: Db,
  orgId: string,
  storyRef: string,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<History> {
  const before = decodeCursor(page.cursor, HistoryCursor);
  const values = new Values(orgId);
  const story = values.storyId(storyRef);
  const older = before === undefined ? '' : `and p.version < ${values.$(before[0])}`;
  const rows = await db.all(
    sqlQuery<Omit<SpecRow, 'content'>>(
      `select ${entryColumns} from story_specs p
       where p.org_id = ${values.org} and p.story_id = ${story} ${older}
       order by p.version desc limit ${values.$(page.limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(
    rows,
    page.limit,
    (row) => [row.version],
    (row) => ({ ...toEntry(row), linesAdded: row.lines_added, linesRemoved: row.lines_removed }),
  );
}

const insertSpec = statement((param: Param<NewSpecRow>) =>
  query.insertInto('story_specs').values({
    org_id: param('org_id'),
    story_id: param('story_id'),
    version: param('version'),
    content: param('content'),
    content_hash: param('content_hash'),
    lines_added: param('lines_added'),
    lines_removed: param('lines_removed'),
    author: param('author'),
    note: param('note'),
    created_at: param('created_at'),
  }),
);

/** What somebody writes as the next version. */
export interface Draft {
  readonly content: string;
  readonly author: Actor;
  readonly note: string | null;
  readonly at: string;
}

/** The version that follows `current` with this content. */
export function nextSpec(orgId: string, current: Spec, draft: Draft): NewSpecRow {
  const { linesAdded, linesRemoved } = lineChanges(current.content, draft.content);
  return {
    org_id: orgId,
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
export const setSpec = (row: NewSpecRow): Query<unknown> => insertSpec(row);

/** Version 1 of the spec of a story that is born with one; its spec_version has to be 1. */
export const firstSpecRow = (
  orgId: string,
  storyId: string,
  { content, author, at }: Omit<Draft, 'note'>,
): NewSpecRow => nextSpec(orgId, unwritten(storyId), { content, author, note: null, at });
