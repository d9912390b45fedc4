/** Imports lines of an archive that another installation exported, in the order of the archive. */
import {
  type ImportedArchiveType,
  importedArchiveRecords,
  type ImportInput,
  type ImportResult,
  issueAt,
  plainIssueMessages,
} from '@muster/contract';
import { insertImportedAgents, insertImportedTeams } from '@muster/organizations';
import { boardColumns } from '../../../data/columns.ts';
import { comments } from '../../../data/comments.ts';
import { insertAndCountStories } from '../../../data/counts.ts';
import { epics } from '../../../data/epics.ts';
import {
  findArchivedProjectId,
  findArchivedRecords,
  findAssignedTargets,
  findReviewersOfStories,
  findTakenUniqueValues,
  findUploads,
  insertImportedAssignments,
  insertImportedReactions,
  setSpecVersions,
} from '../../../data/import-archive.ts';
import {
  insertContract,
  insertContractVersion,
  linkContract,
  lockContracts,
} from '../../../data/contracts.ts';
import {
  findCommentLocations,
  lockImportBoard,
  lockStories,
  setLastStoryNumber,
} from '../../../data/import-board.ts';
import {
  findImportedViews,
  findOrganizationPrompts,
  findTeamsByName,
  insertProjectTeams,
  lockOrganizationImports,
  type OrganizationRecord,
} from '../../../data/import-organization.ts';
import { type ImportedItem, type ImportItemKind, type ImportItemRow } from '../../../data/imports.ts';
import { findPromptSlugs, insertImportedPrompts } from '../../../data/prompts.ts';
import { insertSpecVersions } from '../../../data/plan-stories.ts';
import { projects } from '../../../data/projects.ts';
import { reviews } from '../../../data/reviewers.ts';
import { countViews, views } from '../../../data/views.ts';
import { collectIds } from '../../../rules/archive-ids.ts';
import { type ArchiveBatch, type ArchiveLine, describeStory, type LineResult } from './archive-batch.ts';
import {
  type BoardAllocations,
  putColumn,
  putEpic,
  putSpec,
  putStory,
  readAllocations,
} from './put-board.ts';
import { type ArchivedDocuments, putContract, putPrompt, putView } from './put-documents.ts';
import { putAssignment, putAttachment, putComment, putReviewer } from './put-collaboration.ts';
import { type OrganizationRecords, putAgent, putTeam } from './put-organization.ts';
import { putMember, putProject } from './put-people.ts';
import { readPeople } from './read-people.ts';

/** A line that fits the schema of its type, or the result for a line that cannot be imported. */
type ParsedLine = {
  [Type in ImportedArchiveType]: { readonly type: Type; readonly line: ArchiveLine<Type> };
}[ImportedArchiveType];

const isImported = (type: string): type is ImportedArchiveType => type in importedArchiveRecords;

const maxNameLength = 255;

/** Returns the name of an item in the results. Specs and assignments have no id of their own. */
function nameOf(item: ImportInput): string {
  if (item.type === undefined || item.type === 'item') return item.externalId;
  const fields: Readonly<Record<string, unknown>> = item;
  const names =
    item.type === 'specs' ? [fields['storyId'], fields['version']] : [fields['id'] ?? fields['targetId']];
  return names
    .filter((name) => typeof name === 'string' || typeof name === 'number')
    .join(' ')
    .slice(0, maxNameLength);
}

function parseLine(item: ImportInput): ParsedLine | LineResult {
  if (item.type === undefined || item.type === 'item')
    return {
      outcome: 'refused',
      issues: [{ path: 'type', message: 'An import of provider muster takes lines of an archive.' }],
    };
  if (!isImported(item.type))
    return {
      outcome: 'unchanged',
      issues: [{ path: 'type', message: `Lines of the type ${item.type} are not imported.` }],
    };
  const parsed = importedArchiveRecords[item.type].safeParse(item, plainIssueMessages);
  if (parsed.success) return { type: item.type, line: parsed.data } as ParsedLine;
  const issues = parsed.error.issues.slice(0, 5).map(({ path, message }) => issueAt(path, message));
  return { outcome: 'refused', issues };
}

const isParsed = (one: ParsedLine | LineResult): one is ParsedLine => 'line' in one;

const linesOf = <Type extends ImportedArchiveType>(
  parsed: readonly ParsedLine[],
  type: Type,
): ArchiveLine<Type>[] => parsed.flatMap((one) => (one.type === type ? [one.line as ArchiveLine<Type>] : []));

const recordIdsOf = (noted: ReadonlyMap<string, ImportItemRow>, ...kinds: ImportItemKind[]): string[] =>
  [...noted.values()].flatMap(({ kind, record_id: id }) => (kinds.includes(kind) ? id : []));

export interface ArchivePutResult {
  readonly results: readonly ImportResult[];
  readonly importedItems: readonly ImportedItem[];
}

/** The part of a batch that is known before the lines are parsed. */
type ArchivePutCall = Pick<
  ArchiveBatch,
  'db' | 'caller' | 'at' | 'current' | 'writesForMembers' | 'writesForOrganization'
>;

export async function putArchive(
  { db, caller, at, current, writesForMembers, writesForOrganization }: ArchivePutCall,
  items: readonly ImportInput[],
): Promise<ArchivePutResult> {
  const read = items.map(parseLine);
  const lines = read.filter(isParsed);
  const storyLines = linesOf(lines, 'stories');
  const attachmentLines = linesOf(lines, 'attachments');
  const projectId = current.project_id;
  const [project, board, noted, archivedProjectId] = await Promise.all([
    lines.some(({ type }) => type === 'projects') ? projects.lock(db, projectId) : undefined,
    lockImportBoard(db, projectId),
    findArchivedRecords(db, current, [...collectIds(lines.map(({ line }) => line))]),
    findArchivedProjectId(db, current),
  ]);
  const storyIds = recordIdsOf(noted, 'story');
  const [people, existingStories, existingComments, reviewers, assigned, taken, uploads] = await Promise.all([
    readPeople(db, projectId, {
      emails: linesOf(lines, 'members').map(({ email }) => email),
      agents: linesOf(lines, 'agents'),
      ...{ earlierItems: noted, writesForMembers },
    }),
    lockStories(db, storyIds),
    findCommentLocations(db, recordIdsOf(noted, 'comment')),
    lines.some(({ type }) => type === 'reviewers') ? findReviewersOfStories(db, storyIds) : [],
    lines.some(({ type }) => type === 'assignments')
      ? findAssignedTargets(db, recordIdsOf(noted, 'story', 'epic'))
      : [],
    storyLines.length === 0
      ? []
      : findTakenUniqueValues(db, projectId, {
          numbers: storyLines.map(({ number }) => number),
          columnIds: board.columns.map(({ id }) => id),
          ranks: storyLines.map(({ rank }) => rank),
          upstreams: storyLines.flatMap(({ upstream }) => upstream ?? []),
        }),
    attachmentLines.length === 0
      ? []
      : findUploads(db, caller.memberId, recordIdsOf(noted, 'story', 'comment'), attachmentLines),
  ]);
  const reviewerIds = new Map<string, Set<string>>();
  for (const { story_id: storyId, reviewer_id: reviewerId } of reviewers)
    reviewerIds.set(storyId, (reviewerIds.get(storyId) ?? new Set()).add(reviewerId));
  const batch: ArchiveBatch = {
    ...{ db, caller, at, current, board, noted, writesForMembers, writesForOrganization },
    ...{ people, existingStories, existingComments },
    ...{ reviewerIds, assignedTargets: new Set(assigned), uploads, archivedProjectId, found: new Map() },
    writes: {
      ...{ agents: [], teams: [], projectTeams: [], columns: [], epics: [], stories: new Map() },
      ...{ specs: [], specVersions: new Map(), comments: new Map(), reactions: [], reviewers: [] },
      ...{ assignments: [], importedItems: new Map() },
    },
  };
  const allocations = readAllocations(batch, taken);
  const documents = await readDocuments(batch, lines);
  const results = items.map((item, index): ImportResult => {
    const one = read[index];
    if (one === undefined) throw new Error('each item was parsed');
    return toResult(
      batch,
      item,
      isParsed(one) ? putLine(batch, { places: allocations, documents }, one, project) : one,
    );
  });
  write(batch, allocations, documents);
  return { results, importedItems: [...batch.writes.importedItems.values()] };
}

async function readDocuments(
  { db, caller, current, noted, people, writesForOrganization }: ArchiveBatch,
  lines: readonly ParsedLine[],
): Promise<ArchivedDocuments> {
  const { project_id: projectId } = current;
  const prompts = linesOf(lines, 'prompts');
  const contracts = linesOf(lines, 'contracts');
  const owners = [
    ...[caller.memberId, ...recordIdsOf(noted, 'member')],
    ...[...people.members.values()].map(({ id }) => id),
  ];
  const [organization, promptSlugs, locked, viewCounts] = await Promise.all([
    writesForOrganization
      ? readOrganization(db, lines, owners)
      : { teams: new Map(), prompts: new Map(), views: new Map() },
    prompts.length === 0
      ? new Set<string>()
      : findPromptSlugs(
          db,
          projectId,
          prompts.map(({ slug }) => slug),
        ),
    contracts.length === 0
      ? []
      : lockContracts(
          db,
          projectId,
          contracts.map(({ slug }) => slug),
        ),
    lines.some(({ type }) => type === 'views') ? countViews(db, owners) : new Map<string, number>(),
  ]);
  return {
    ...{ organization, promptSlugs, viewCounts, prompts: [], contractVersions: [], views: [] },
    contracts: new Map(locked.map((contract) => [contract.slug, { ...contract, isNew: false }])),
  };
}

/** Reads the records of the organization that lines could be the same as. Imports that write such records wait here. */
async function readOrganization(
  db: ArchiveBatch['db'],
  lines: readonly ParsedLine[],
  ownerIds: readonly string[],
): Promise<OrganizationRecords> {
  const teams = linesOf(lines, 'teams');
  const prompts = linesOf(lines, 'prompts').filter(({ projectId }) => projectId === null);
  const views = linesOf(lines, 'views').filter(({ projectId }) => projectId === null);
  const isNeeded = teams.length + prompts.length + views.length > 0;
  const [, ...found] = await Promise.all([
    isNeeded ? lockOrganizationImports(db) : undefined,
    teams.length === 0
      ? []
      : findTeamsByName(
          db,
          teams.map(({ name }) => name),
        ),
    prompts.length === 0
      ? []
      : findOrganizationPrompts(
          db,
          prompts.map(({ slug }) => slug),
        ),
    views.length === 0
      ? []
      : findImportedViews(
          db,
          ownerIds,
          views.map(({ id }) => id),
        ),
  ]);
  const byName = (records: readonly OrganizationRecord[]) =>
    new Map(records.map((record) => [record.name.toLowerCase(), record]));
  return { teams: byName(found[0]), prompts: byName(found[1]), views: byName(found[2]) };
}

function putLine(
  batch: ArchiveBatch,
  { places, documents }: { readonly places: BoardAllocations; readonly documents: ArchivedDocuments },
  parsed: ParsedLine,
  project: Parameters<typeof putProject>[2],
): LineResult {
  switch (parsed.type) {
    case 'members':
      return putMember(batch, parsed.line);
    case 'agents':
      return putAgent(batch, parsed.line);
    case 'teams':
      return putTeam(batch, documents.organization, parsed.line);
    case 'projects':
      return putProject(batch, parsed.line, project);
    case 'columns':
      return putColumn(batch, places, parsed.line);
    case 'epics':
      return putEpic(batch, parsed.line);
    case 'stories':
      return putStory(batch, places, parsed.line);
    case 'specs':
      return putSpec(batch, parsed.line);
    case 'comments':
      return putComment(batch, parsed.line);
    case 'reviewers':
      return putReviewer(batch, parsed.line);
    case 'assignments':
      return putAssignment(batch, parsed.line);
    case 'prompts':
      return putPrompt(batch, documents, parsed.line);
    case 'contracts':
      return putContract(batch, documents, parsed.line);
    case 'views':
      return putView(batch, documents, parsed.line);
    case 'attachments':
      return putAttachment(batch, parsed.line);
  }
}

const toResult = (batch: ArchiveBatch, item: ImportInput, result: LineResult): ImportResult => ({
  externalId: nameOf(item),
  outcome: result.outcome,
  recordId: result.recordId ?? null,
  ...describeStory(batch, result.recordId),
  issues: [...(result.issues ?? [])],
});

/** Writes the rows in the common order: agents, teams, columns, epics, stories, and then what belongs to them. */
function write(
  { db, board, current, writes }: ArchiveBatch,
  { lastNumber }: BoardAllocations,
  { prompts, contracts, contractVersions, views: addedViews }: ArchivedDocuments,
): void {
  for (const [storyId, version] of writes.specVersions) {
    const story = writes.stories.get(storyId);
    if (story !== undefined) writes.stories.set(storyId, { ...story, spec_version: version });
  }
  const others = [...writes.specVersions].filter(([storyId]) => !writes.stories.has(storyId));
  const { agents, teams, projectTeams, columns, specs, reactions, reviewers, assignments } = writes;
  for (const query of [
    ...(agents.length > 0 ? [insertImportedAgents(agents)] : []),
    ...insertImportedTeams(teams),
    ...(projectTeams.length > 0 ? [insertProjectTeams(current.project_id, projectTeams)] : []),
    ...boardColumns.insertAll(columns),
    ...epics.insertAll(writes.epics),
    ...insertAndCountStories(current.project_id, [...writes.stories.values()]),
    ...(lastNumber > board.lastStoryNumber ? [setLastStoryNumber(current.project_id, lastNumber)] : []),
    ...insertSpecVersions(specs),
    ...(others.length > 0
      ? [setSpecVersions(others.map(([storyId, version]) => ({ storyId, version })))]
      : []),
    ...comments.insertAll([...writes.comments.values()]),
    ...insertImportedReactions(reactions),
    ...reviews.insertAll(reviewers),
    ...(assignments.length > 0 ? [insertImportedAssignments(assignments)] : []),
    ...insertImportedPrompts(prompts),
    ...[...contracts.values()].filter(({ isNew }) => isNew).map(insertContract),
    ...contractVersions.flatMap(insertContractVersion),
    ...contractVersions.flatMap((row) => (row.story_id === null ? [] : linkContract(row, row.story_id))),
    ...views.insertAll(addedViews),
  ])
    db.deferToCommit(query);
}
