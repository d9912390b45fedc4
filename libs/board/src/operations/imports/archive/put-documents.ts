/** Writes the prompts, contracts and views of an archive. */
import { createHash } from 'node:crypto';
import { type ViewFilter } from '@muster/contract';
import { type ContractRow, type LockedContract } from '../../../data/contracts.ts';
import { type ImportedPromptRow } from '../../../data/prompts.ts';
import { maxViewsOfMember, type ViewRow, views } from '../../../data/views.ts';
import { createIdLike } from '../../../rules/archive-ids.ts';
import { findContentProblem } from '../../../rules/contract-content.ts';
import { importItemKey } from '../../../data/imports.ts';
import {
  type ArchiveBatch,
  type ArchiveLine,
  findEarlierResult,
  findRecordId,
  importColumns,
  keptLine,
  type LineResult,
  recordImportedItem,
  refusedLine,
  toLocalActor,
} from './archive-batch.ts';
import { findOrganizationResult, onlyAdmins, type OrganizationRecords } from './put-organization.ts';
import { findProjectMismatch } from './put-people.ts';

/** A contract during a put. */
interface ArchivedContract extends LockedContract {
  readonly isNew: boolean;
}

/** The documents of the project and the organization before the put, and those that it adds. */
export interface ArchivedDocuments {
  readonly organization: OrganizationRecords;
  readonly promptSlugs: Set<string>;
  /** The contracts by slug. */
  readonly contracts: Map<string, ArchivedContract>;
  /** The number of views of members. */
  readonly viewCounts: Map<string, number>;
  readonly prompts: ImportedPromptRow[];
  readonly contractVersions: ContractRow[];
  readonly views: ViewRow[];
}

/** Returns the result for a document of another project, or of the organization if the caller may not write those. */
const findScopeResult = (
  batch: ArchiveBatch,
  { projectId }: { readonly projectId: string | null },
  things: string,
): LineResult | undefined => {
  if (projectId !== null) return findProjectMismatch(batch, { projectId });
  return batch.writesForOrganization ? undefined : onlyAdmins(things);
};

export function putPrompt(
  batch: ArchiveBatch,
  { promptSlugs, prompts, organization }: ArchivedDocuments,
  line: ArchiveLine<'prompts'>,
): LineResult {
  const { id, slug, title, body, tags, createdAt, updatedAt, version } = line;
  const isOfOrganization = line.projectId === null;
  const other =
    findScopeResult(batch, line, 'prompts') ??
    findEarlierResult(batch, 'prompt', line) ??
    findOrganizationResult(
      batch,
      'prompt',
      line,
      isOfOrganization ? organization.prompts.get(slug) : undefined,
    );
  if (other !== undefined) return other;
  if (!isOfOrganization && promptSlugs.has(slug))
    return keptLine('The project has a prompt with this slug already.');
  const projectId = isOfOrganization ? null : batch.current.project_id;
  const row: ImportedPromptRow = {
    ...{ id: createIdLike(id), project_id: projectId, slug, title, body, tags, version },
    arguments: line.arguments,
    created_by: toLocalActor(batch, line.createdBy),
    updated_by: toLocalActor(batch, line.updatedBy),
    ...importColumns(batch),
    ...{ created_at: createdAt, updated_at: updatedAt },
  };
  if (isOfOrganization) organization.prompts.set(slug, { id: row.id, name: slug, archive_ids: [id] });
  else promptSlugs.add(slug);
  prompts.push(row);
  recordImportedItem(batch, 'prompt', line, row.id, { version });
  return { outcome: 'created', recordId: row.id };
}

/** Returns the story that was imported from this line, unless it was deleted since. */
function findExistingStory(batch: ArchiveBatch, archiveId: string | null): string | undefined {
  const id = findRecordId(batch, 'story', archiveId);
  return id !== undefined && (batch.writes.stories.has(id) || batch.existingStories.has(id)) ? id : undefined;
}

/** Adds the next version to a contract that nobody has published here since its import. */
export function putContract(
  batch: ArchiveBatch,
  { contracts, contractVersions }: ArchivedDocuments,
  line: ArchiveLine<'contracts'>,
): LineResult {
  const mismatch = findProjectMismatch(batch, line);
  if (mismatch !== undefined) return mismatch;
  const { slug, version, kind, content, note, createdAt } = line;
  const recordId = findRecordId(batch, 'contract', line.id);
  const before = contracts.get(slug);
  if (before !== undefined && before.id !== recordId)
    return keptLine('The project has a contract with this slug already.');
  const contract = before ?? {
    ...{ id: createIdLike(line.id), project_id: batch.current.project_id, slug, version: 0, isNew: true },
  };
  if (version <= contract.version) return { outcome: 'unchanged', recordId: contract.id };
  const noted = batch.writes.importedItems.get(importItemKey('contract', line.id))?.version;
  const imported = noted ?? batch.noted.get(importItemKey('contract', line.id))?.record_version ?? 0;
  if (contract.version !== imported)
    return keptLine('The contract was published in Muster since it was imported.', contract.id);
  if (version > contract.version + 1)
    return refusedLine('version', `Version ${contract.version + 1} of the contract has to come first.`);
  const problem = findContentProblem(kind, content);
  if (problem !== null) return refusedLine('content', problem);
  contracts.set(slug, { ...contract, version });
  contractVersions.push({
    ...{ contract_id: contract.id, version, project_id: contract.project_id, slug, kind, content, note },
    content_hash: createHash('sha256').update(content).digest('hex'),
    size: Buffer.byteLength(content),
    story_id: findExistingStory(batch, line.storyId) ?? null,
    published_by: toLocalActor(batch, line.publishedBy),
    ...importColumns(batch),
    created_at: createdAt,
  });
  recordImportedItem(batch, 'contract', line, contract.id, { version, isCreated: contract.isNew });
  return { outcome: 'created', recordId: contract.id };
}

/** Values of a filter that name the same people in each installation. Handles and slugs do not. */
const personPlaceholders = new Set(['me', 'none']);

/** Returns the filter with the ids of the records here; undefined if it names records that were not imported. */
function toLocalFilter(batch: ArchiveBatch, filter: ViewFilter): ViewFilter | undefined {
  const ids: (string | undefined)[] = [];
  const required = (id: string | undefined): string => {
    ids.push(id);
    return id ?? '';
  };
  const person = (name: string): string =>
    personPlaceholders.has(name)
      ? name
      : required(findRecordId(batch, 'member', name) ?? findRecordId(batch, 'agent', name));
  const { columnId, epicId, parentId, assigneeId, agentId, ...others } = filter;
  const mapped: ViewFilter = {
    ...others,
    ...(columnId !== undefined && { columnId: required(findRecordId(batch, 'column', columnId)) }),
    ...(epicId !== undefined && { epicId: required(findRecordId(batch, 'epic', epicId)) }),
    ...(parentId !== undefined && { parentId: required(findExistingStory(batch, parentId)) }),
    ...(assigneeId !== undefined && {
      assigneeId: typeof assigneeId === 'string' ? person(assigneeId) : assigneeId.map(person),
    }),
    ...(agentId !== undefined && { agentId: person(agentId) }),
  };
  return ids.includes(undefined) ? undefined : mapped;
}

/** Imports a shared view. It becomes the importing member's, unless an admin imports it for its owner. */
export function putView(
  batch: ArchiveBatch,
  { viewCounts, views: added, organization }: ArchivedDocuments,
  line: ArchiveLine<'views'>,
): LineResult {
  const other =
    findScopeResult(batch, line, 'views') ??
    findEarlierResult(batch, 'view', line) ??
    findOrganizationResult(batch, 'view', line, organization.views.get(line.id));
  if (other !== undefined) return other;
  const { caller, writesForMembers, current } = batch;
  const { name, layout, groupBy, sort, columns, shared, createdAt, updatedAt, version } = line;
  const owner = findRecordId(batch, 'member', line.owner.id);
  if (!shared && owner !== caller.memberId)
    return keptLine('Only its owner can import a view that is not shared.');
  const ownerId = (writesForMembers ? owner : undefined) ?? caller.memberId;
  const count = viewCounts.get(ownerId) ?? 0;
  if (count >= maxViewsOfMember) return refusedLine('id', `Its owner has ${maxViewsOfMember} views already.`);
  const filter = toLocalFilter(batch, line.filter);
  if (filter === undefined) return keptLine('Its filter names records that were not imported.');
  const row: ViewRow = {
    ...views.make(
      {
        ...{
          id: createIdLike(line.id),
          ownerId,
          projectId: line.projectId === null ? null : current.project_id,
          name,
          layout,
          filter,
        },
        ...{ groupBy, sort, columns, shared },
      },
      updatedAt,
    ),
    ...{ created_at: createdAt, version },
  };
  viewCounts.set(ownerId, count + 1);
  added.push(row);
  recordImportedItem(batch, 'view', line, row.id, { version });
  return { outcome: 'created', recordId: row.id };
}
