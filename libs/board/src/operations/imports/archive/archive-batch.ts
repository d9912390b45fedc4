/** The data that all parts of a put of archive lines share, and the records that the lines stand for. */
import { type RowOf } from '@muster/driver';
import { type AgentRow, type ImportedTeam } from '@muster/organizations';
import {
  type Actor,
  type ImportedArchiveRecord,
  type ImportedArchiveType,
  type ImportResult,
  type ProjectRole,
} from '@muster/contract';
import { type ArchivedParticipants } from './read-people.ts';
import { type CommentRow } from '../../../data/comments.ts';
import { type ColumnRow } from '../../../data/columns.ts';
import { type EpicRow } from '../../../data/epics.ts';
import {
  type ImportedAssignment,
  type ImportedReaction,
  type UploadedFile,
} from '../../../data/import-archive.ts';
import { type CommentLocation, type ImportedStory } from '../../../data/import-board.ts';
import { importItemKey, type ImportedItem, type ImportItemKind } from '../../../data/imports.ts';
import { type reviews } from '../../../data/reviewers.ts';
import { type SpecRow } from '../../../data/specs.ts';
import { toStoryKey, type StoryRow } from '../../../data/stories.ts';
import { hashFields } from '../../../rules/import-merge.ts';
import { type ImportBatch } from '../import-batch.ts';

/** The rows that the put writes at its end. */
export interface ArchiveWrites {
  readonly agents: AgentRow[];
  readonly teams: ImportedTeam[];
  /** The roles of teams in the project. */
  readonly projectTeams: { readonly teamId: string; readonly role: ProjectRole }[];
  readonly columns: ColumnRow[];
  readonly epics: EpicRow[];
  readonly stories: Map<string, StoryRow>;
  readonly specs: SpecRow[];
  /** The new current spec versions of stories that earlier puts created. */
  readonly specVersions: Map<string, number>;
  readonly comments: Map<string, CommentRow>;
  readonly reactions: ImportedReaction[];
  readonly reviewers: RowOf<typeof reviews>[];
  readonly assignments: ImportedAssignment[];
  /** The notes about records, by importItemKey. */
  readonly importedItems: Map<string, ImportedItem>;
}

export interface ArchiveBatch extends Pick<
  ImportBatch,
  'db' | 'caller' | 'at' | 'current' | 'board' | 'noted' | 'writesForMembers'
> {
  /** True if the caller may write records of the whole organization: admins with a token for all projects. */
  readonly writesForOrganization: boolean;
  readonly people: ArchivedParticipants;
  /** The locked stories that earlier puts created, by id. */
  readonly existingStories: ReadonlyMap<string, ImportedStory>;
  readonly existingComments: ReadonlyMap<string, CommentLocation>;
  /** The reviewers of each story, including those that this put adds. */
  readonly reviewerIds: Map<string, Set<string>>;
  /** The stories and epics that are assigned already. */
  readonly assignedTargets: ReadonlySet<string>;
  /** Files that the caller attached and that stand for no line yet. */
  readonly uploads: UploadedFile[];
  /** The id in the archive of the project whose lines this import takes. */
  archivedProjectId: string | undefined;
  /** The records of lines of this put, by importItemKey. */
  readonly found: Map<string, string>;
  readonly writes: ArchiveWrites;
}

export type ArchiveLine<Type extends ImportedArchiveType> = ImportedArchiveRecord<Type>;

/** The result for a line. */
export interface LineResult {
  readonly outcome: ImportResult['outcome'];
  readonly recordId?: string | null;
  readonly issues?: readonly ImportResult['issues'][number][];
}

export const refusedLine = (path: string, message: string): LineResult => ({
  outcome: 'refused',
  issues: [{ path, message }],
});

export const keptLine = (message: string, recordId: string | null = null): LineResult => ({
  outcome: 'kept',
  recordId,
  issues: [{ path: 'id', message }],
});

/** Returns the record that was imported from the line with this id; undefined if the line was not imported. */
export function findRecordId(
  { found, noted }: Pick<ArchiveBatch, 'found' | 'noted'>,
  kind: ImportItemKind,
  archiveId: string | null,
): string | undefined {
  if (archiveId === null) return undefined;
  const key = importItemKey(kind, archiveId);
  return found.get(key) ?? noted.get(key)?.record_id;
}

export const hashLine = (line: object): Buffer => hashFields([line]);

/** Returns the result for a line that an earlier put imported; undefined for a new line. */
export function findEarlierResult(
  { noted, found }: ArchiveBatch,
  kind: ImportItemKind,
  line: { readonly id: string },
): LineResult | undefined {
  const key = importItemKey(kind, line.id);
  if (found.has(key)) return refusedLine('id', 'An earlier line in this call has the same id.');
  const note = noted.get(key);
  if (note === undefined) return undefined;
  return note.source_hash?.equals(hashLine(line)) === true
    ? { outcome: 'unchanged', recordId: note.record_id }
    : keptLine('It was imported before. Only new lines of an archive are imported.', note.record_id);
}

/** Notes the record of a line for later lines and puts. `isCreated` is false for a record that was there before. */
export function recordImportedItem(
  { found, writes }: ArchiveBatch,
  kind: ImportItemKind,
  line: { readonly id: string },
  recordId: string,
  {
    version = 1,
    isCreated = true,
    blockedBy = [],
    parent = null,
  }: Partial<Pick<ImportedItem, 'version' | 'blockedBy' | 'parent'>> & { readonly isCreated?: boolean } = {},
): void {
  const key = importItemKey(kind, line.id);
  found.set(key, recordId);
  const hash = hashLine(line);
  writes.importedItems.set(key, {
    kind,
    externalId: line.id,
    recordId,
    isMade: isCreated,
    hash,
    version,
    blockedBy,
    parent,
  });
}

/** Returns the columns that mark a record as imported: by whom, and by which import. */
export const importColumns = ({ caller, current }: ArchiveBatch) => ({
  imported_by: caller.actor,
  imported_from: current.provider,
});

/**
 * Returns an actor of the archive as an actor here. It becomes a member only if an admin imports; otherwise only the
 * name is kept.
 */
export function toLocalActor(batch: ArchiveBatch, actor: Actor): Actor {
  const memberId = batch.writesForMembers ? (findRecordId(batch, 'member', actor.memberId) ?? null) : null;
  const agentId = memberId === null ? null : (findRecordId(batch, 'agent', actor.agentId) ?? null);
  const kind = actor.kind === 'system' && !batch.writesForMembers ? 'member' : actor.kind;
  return { kind, memberId, agentId, name: actor.name };
}

/** Returns the story that a line belongs to, or the result for a line that belongs to none. */
export function findStoryOfLine(
  batch: ArchiveBatch,
  archiveStoryId: string,
): { readonly story: StoryRow; readonly existing: ImportedStory | undefined } | LineResult {
  const storyId = findRecordId(batch, 'story', archiveStoryId);
  if (storyId === undefined) return refusedLine('storyId', 'Its story was not imported into this project.');
  const existing = batch.existingStories.get(storyId);
  const story = batch.writes.stories.get(storyId) ?? existing;
  return story === undefined ? keptLine('The story was deleted in Muster.') : { story, existing };
}

/** Returns the id and key of a story for the result of a line. */
export const describeStory = (batch: ArchiveBatch, storyId: string | null | undefined) => {
  const story = batch.writes.stories.get(storyId ?? '') ?? batch.existingStories.get(storyId ?? '');
  return { storyId: story?.id ?? null, key: story === undefined ? null : toStoryKey(story) };
};
