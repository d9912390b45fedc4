/** Reads Jira files: the CSV of its search, and the answer of its REST API, version 2. */
import { type StoryStatus } from '@muster/contract';
import { type ImportDraft, type OpenedFile, type ParsedItem, type ReadOptions } from '../draft.ts';
import { appendTo, flattenNesting, type Nesting } from '../nesting.ts';
import { type TextSource } from '../source.ts';
import { wikiToMarkdown } from '../wiki.ts';
import { type JiraIssue } from './jira-issue.ts';
import { openJiraResponses } from './jira-json.ts';
import { openJiraRows } from './jira-rows.ts';
import { tryReadJson } from './json.ts';

/** The data about all issues of the file that is needed to read a single issue. */
interface JiraIndex {
  /** Maps the key and the number of each issue to its key. */
  readonly keys: Map<string, string>;
  readonly epics: Map<string, { readonly title: string; readonly targetDate: string | undefined }>;
  /** The parents of each issue, by its key. */
  readonly parents: Map<string, readonly string[]>;
  /** The nesting of issues that are no epics, by their keys. */
  readonly nesting: Nesting;
  /** The issues that state that they block an issue, by its key. */
  readonly blockersById: Map<string, string[]>;
  /** The keys of the epics to which an issue of the file belongs. */
  readonly usedEpicKeys: Set<string>;
}

async function buildJiraIndex(issues: AsyncIterable<JiraIssue>): Promise<JiraIndex> {
  const index: Omit<JiraIndex, 'nesting'> = {
    ...{
      keys: new Map(),
      epics: new Map(),
      parents: new Map(),
      blockersById: new Map(),
      usedEpicKeys: new Set(),
    },
  };
  const nearestParents = new Map<string, string>();
  const parts: [parent: string, part: string][] = [];
  for await (const { key, id, isEpic, title, dueDate, parents, blocks } of issues) {
    if (key === undefined) continue;
    index.keys.set(key, key);
    if (id !== undefined) index.keys.set(id, key);
    if (isEpic) index.epics.set(key, { title, targetDate: dueDate });
    if (parents.length > 0) index.parents.set(key, parents);
    for (const other of blocks) appendTo(index.blockersById, other, key);
    if (!isEpic) for (const parent of parents) parts.push([parent, key]);
  }
  for (const [named, part] of parts) {
    const parent = index.keys.get(named);
    if (parent === undefined) continue;
    if (index.epics.has(parent)) index.usedEpicKeys.add(parent);
    else if (!nearestParents.has(part)) nearestParents.set(part, parent);
  }
  return { ...index, nesting: flattenNesting(nearestParents) };
}

/** Returns the epic of an issue, or of its nearest ancestor with one. */
function findEpicOfIssue(issue: JiraIssue, index: JiraIndex): ImportDraft['epic'] {
  const seen = new Set<string>();
  const open = [...issue.parents];
  for (let named = open.shift(); named !== undefined; named = open.shift()) {
    const key = index.keys.get(named);
    if (key === undefined) {
      // The parent is not in the file. It becomes an epic if its title or key is known; a number alone does
      // not name it.
      if (issue.parentTitle !== undefined) return { externalId: named, title: issue.parentTitle };
      if (/-\d+$/.test(named)) return { externalId: named, title: named };
      continue;
    }
    const epic = index.epics.get(key);
    if (epic !== undefined) return { externalId: key, ...epic };
    if (!seen.has(key)) open.push(...(index.parents.get(key) ?? []));
    seen.add(key);
  }
  return undefined;
}

const statusByCategory: Readonly<Record<string, StoryStatus>> = {
  'to do': 'backlog',
  new: 'backlog',
  'in progress': 'in_progress',
  indeterminate: 'in_progress',
  done: 'done',
};
const canceledResolutionPattern =
  /^(won.?t (do|fix)|duplicate|cannot reproduce|declined|rejected|invalid|abandoned|obsolete|not a bug|incomplete|cancell?ed)$/i;

/** Returns the status. A done status whose resolution contradicts it becomes canceled. */
function mapIssueStatus({
  status,
  statusCategory,
  resolution,
}: JiraIssue): Pick<ImportDraft, 'status' | 'statusIs' | 'statusHint'> {
  const hint = statusByCategory[(statusCategory ?? '').toLowerCase()];
  if (resolution !== undefined && canceledResolutionPattern.test(resolution))
    return { status: `${status ?? 'Resolved'} (${resolution})`, statusIs: 'canceled' };
  return { status, statusHint: hint };
}

function toDraft(issue: JiraIssue, index: JiraIndex): ImportDraft {
  const { location, key, title, priority, labels, estimate, createdAt, updatedAt, assignee, url } = issue;
  const { description, comments, blockedBy, dueDate, unimportedFields } = issue;
  const { parents, blockersById: waits } = index.nesting;
  return {
    place: location,
    externalId: key,
    url,
    title,
    priority,
    labels,
    estimate,
    dueDate,
    createdAt,
    updatedAt,
    unimportedFields,
    ...mapIssueStatus(issue),
    description: description === undefined ? undefined : wikiToMarkdown(description),
    epic: findEpicOfIssue(issue, index),
    parent: parents.get(key ?? ''),
    blockedBy: [...blockedBy, ...(index.blockersById.get(key ?? '') ?? []), ...(waits.get(key ?? '') ?? [])],
    assignees: assignee === undefined ? [] : [assignee],
    comments: comments.map(({ id, body, ...others }) => ({
      ...others,
      externalId: id,
      body: wikiToMarkdown(body),
    })),
  };
}

/**
 * Lists the fields of an epic that Muster stores for stories only. The status of an epic that is still to do
 * is not listed, because new epics are open.
 */
function listUnimportedEpicFields(epic: JiraIssue): string[] {
  const isOpen =
    statusByCategory[(epic.statusCategory ?? '').toLowerCase()] === 'backlog' &&
    epic.resolution === undefined;
  const fields = {
    description: epic.description,
    status: isOpen ? undefined : epic.status,
    priority: epic.priority,
    assignee: epic.assignee,
    estimate: epic.estimate,
    ...{ labels: epic.labels.join(''), parent: epic.parents[0] },
    links: [...epic.blockedBy, ...epic.blocks][0],
  };
  return [
    ...Object.entries(fields).flatMap(([field, said]) =>
      (said ?? '') === '' ? [] : [`${field} of an epic`],
    ),
    ...epic.comments.map(() => 'comment on an epic'),
    ...epic.unimportedFields,
  ];
}

export async function openJira(source: TextSource, options: ReadOptions): Promise<OpenedFile> {
  const json = await tryReadJson(source);
  const issues = json === undefined ? await openJiraRows(source, options) : openJiraResponses(json, options);
  const index = await buildJiraIndex(issues());
  return {
    notes: [],
    async *read(): AsyncGenerator<ParsedItem> {
      for await (const issue of issues()) {
        const { key, location, isEpic } = issue;
        if (!isEpic || key === undefined) {
          yield { draft: toDraft(issue, index) };
          continue;
        }
        if (!index.usedEpicKeys.has(key)) yield { place: location, skipped: 'epic without stories' };
        for (const what of listUnimportedEpicFields(issue)) yield { place: location, skipped: what };
      }
    },
  };
}
