/** Reads Linear files: the CSV export of Linear's settings, and the answer of Linear's API. */
import { type StoryStatus } from '@muster/contract';
import { z } from 'zod';
import { requireColumns, openTable, type ParsedRow } from '../csv.ts';
import { type ImportDraft, type OpenedFile, type ParsedItem } from '../draft.ts';
import { flattenNesting, type Nesting } from '../nesting.ts';
import { UnreadableFileError, type TextSource } from '../source.ts';
import { isObject, listUnreadFields, listUnreadFieldsOfPart } from '../unread.ts';
import { tryReadJson, listOrNodesSchema, parseEach } from './json.ts';

/** Removes the `'` that Linear puts before text that a spreadsheet would treat as a formula. */
const stripFormulaQuote = (text: string | undefined): string | undefined =>
  text?.replace(/^'(?=[+\-=@])/, '');

const knownColumns = new Set([
  ...['id', 'title', 'description', 'status', 'estimate', 'priority', 'project', 'project id', 'assignee'],
  ...['labels', 'created', 'updated', 'parent issue', 'blocked by', 'due date', 'url', 'uuid'],
  // The times at which an issue reached a status. They are not imported, because the status and the time of
  // the last change cover them.
  ...['started', 'triaged', 'completed', 'canceled', 'time in status (minutes)'],
]);

const splitList = (text = ''): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** Derives the kind of a team's custom status from the issue's dates: started, completed, canceled. */
function deriveStatusHint(row: ParsedRow): StoryStatus {
  if (row.get('canceled') !== undefined) return 'canceled';
  if (row.get('completed') !== undefined) return 'done';
  return row.get('started') === undefined ? 'backlog' : 'in_progress';
}

function rowToDraft(row: ParsedRow, { parents, blockersById: waits }: Nesting): ImportDraft {
  const id = row.get('id') ?? '';
  const project = row.get('project');
  const assignee = row.get('assignee');
  return {
    place: id === '' ? `line ${row.line}` : id,
    externalId: id === '' ? undefined : id,
    url: row.get('url'),
    title: stripFormulaQuote(row.get('title')) ?? '',
    description: stripFormulaQuote(row.get('description')),
    status: row.get('status'),
    statusHint: deriveStatusHint(row),
    priority: row.get('priority'),
    estimate: row.get('estimate'),
    dueDate: row.get('due date'),
    parent: parents.get(id),
    labels: splitList(row.get('labels')).map((label) => stripFormulaQuote(label) ?? label),
    epic:
      project === undefined
        ? undefined
        : { externalId: row.get('project id') ?? project, title: stripFormulaQuote(project) ?? project },
    blockedBy: [...splitList(row.get('blocked by')), ...(waits.get(id) ?? [])],
    assignees: assignee === undefined ? [] : [assignee],
    createdAt: row.get('created'),
    updatedAt: row.get('updated') ?? row.get('completed') ?? row.get('canceled'),
    unimportedFields: row
      .listFilledColumns()
      .flatMap(({ name, title }) => (knownColumns.has(name) ? [] : [`column ${title}`])),
  };
}

async function openLinearCsv(source: TextSource): Promise<OpenedFile> {
  const table = await openTable(source);
  requireColumns(table, 'Linear', ['id'], ['title'], ['status']);
  const parents = new Map<string, string>();
  for await (const row of table.rows()) {
    const [id, parent] = [row.get('id'), row.get('parent issue')];
    if (id !== undefined && parent !== undefined) parents.set(id, parent);
  }
  const nesting = flattenNesting(parents);
  return {
    notes: ['The CSV export of Linear has no comments; export from the Linear API to import them.'],
    async *read() {
      for await (const row of table.rows()) yield { draft: rowToDraft(row, nesting) };
    },
  };
}

const NamedObject = z.looseObject({ name: z.string() });
const Person = z.looseObject({ name: z.string().nullish(), email: z.string().nullish() }).nullish();
const RelatedIssue = z.looseObject({ identifier: z.string() });
const Issue = z.looseObject({
  identifier: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  url: z.string().nullish(),
  priority: z.number().nullish(),
  estimate: z.number().nullish(),
  dueDate: z.string().nullish(),
  state: z.looseObject({ name: z.string(), type: z.string().nullish() }).nullish(),
  labels: listOrNodesSchema(NamedObject),
  project: z
    .looseObject({ id: z.string().nullish(), name: z.string(), targetDate: z.string().nullish() })
    .nullish(),
  children: listOrNodesSchema(RelatedIssue),
  parent: RelatedIssue.nullish(),
  assignee: Person,
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
  comments: listOrNodesSchema(
    z.looseObject({
      id: z.string(),
      body: z.string().nullish(),
      createdAt: z.string(),
      user: Person,
      parent: z.looseObject({ id: z.string() }).nullish(),
    }),
  ),
  /** Relations in which another issue blocks this one. `issue` is that other issue. */
  inverseRelations: listOrNodesSchema(z.looseObject({ type: z.string(), issue: RelatedIssue })),
});
type Issue = z.infer<typeof Issue>;

const knownIssueFields = new Set([
  ...Object.keys(Issue.shape),
  ...['id', 'number', 'priorityLabel', 'branchName', 'sortOrder', 'team', 'startedAt', 'completedAt'],
  ...['canceledAt'],
]);

const knownCommentFields = new Set([
  ...['id', 'body', 'createdAt', 'updatedAt', 'editedAt', 'user', 'parent', 'url'],
]);
const knownProjectFields = new Set(['id', 'name', 'slugId', 'url', 'targetDate']);

const statusByStateType: Readonly<Record<string, StoryStatus>> = {
  ...{ triage: 'backlog', backlog: 'backlog', unstarted: 'ready', started: 'in_progress' },
  ...{ completed: 'done', canceled: 'canceled', duplicate: 'canceled' },
};

const toPersonNames = (person: Issue['assignee']): string[] => [person?.email ?? person?.name ?? []].flat();

/** Collects the parents that issues name, and those that name them as children. */
function findNesting(issues: readonly Issue[]): Nesting {
  const parents = new Map<string, string>();
  for (const { identifier, parent, children } of issues) {
    if (parent) parents.set(identifier, parent.identifier);
    for (const child of children) parents.set(child.identifier, identifier);
  }
  return flattenNesting(parents);
}

function issueToDraft(issue: Issue, { parents, blockersById: waits }: Nesting): ImportDraft {
  const { identifier, state, project, comments, inverseRelations } = issue;
  const others = inverseRelations
    .filter(({ type }) => type !== 'blocks')
    .map(({ type }) => `relation ${type}`);
  return {
    place: identifier,
    externalId: identifier,
    url: issue.url ?? undefined,
    title: issue.title,
    description: issue.description ?? undefined,
    status: state?.name,
    statusHint: statusByStateType[state?.type ?? ''],
    priority: issue.priority?.toString(),
    estimate: issue.estimate ?? undefined,
    dueDate: issue.dueDate ?? undefined,
    parent: parents.get(identifier),
    labels: issue.labels.map(({ name }) => name),
    epic: project
      ? {
          ...{ externalId: project.id ?? project.name, title: project.name },
          targetDate: project.targetDate ?? undefined,
        }
      : undefined,
    blockedBy: [
      ...inverseRelations
        .filter(({ type }) => type === 'blocks')
        .map((relation) => relation.issue.identifier),
      ...(waits.get(identifier) ?? []),
    ],
    assignees: toPersonNames(issue.assignee),
    createdAt: issue.createdAt ?? undefined,
    updatedAt: issue.updatedAt ?? undefined,
    comments: comments.map(({ id, body, createdAt, user, parent }) => ({
      externalId: id,
      author: user?.name ?? undefined,
      email: user?.email ?? undefined,
      body: body ?? '',
      at: createdAt,
      parent: parent?.id,
    })),
    unimportedFields: [
      ...listUnreadFields(issue, knownIssueFields),
      ...(project ? listUnreadFieldsOfPart('a project', project, knownProjectFields) : []),
      ...comments.flatMap((comment) => listUnreadFieldsOfPart('a comment', comment, knownCommentFields)),
      ...others,
    ],
  };
}

/** Returns the issues of a query's answer, of pages of answers, or of a plain list. */
function extractIssues(json: unknown): unknown[] {
  if (Array.isArray(json))
    return json.flatMap((one: unknown) => (isApiResponse(one) ? extractIssues(one) : [one]));
  if (!isObject(json)) throw new UnreadableFileError('the file is not a response of the Linear API');
  const issues = isObject(json['data']) ? json['data']['issues'] : (json['issues'] ?? json);
  if (Array.isArray(issues)) return issues;
  if (isObject(issues) && Array.isArray(issues['nodes'])) return issues['nodes'];
  throw new UnreadableFileError('the file is not a response of the Linear API: it has no issues');
}

const isApiResponse = (json: unknown): boolean =>
  isObject(json) && ('data' in json || 'nodes' in json || 'issues' in json);

export async function openLinear(source: TextSource): Promise<OpenedFile> {
  const json = await tryReadJson(source);
  if (json === undefined) return openLinearCsv(source);
  const issues = parseEach(extractIssues(json), Issue, 'Linear issue');
  const nesting = findNesting(issues);
  return {
    notes: [],
    async *read(): AsyncGenerator<ParsedItem> {
      for (const issue of issues) yield { draft: issueToDraft(issue, nesting) };
    },
  };
}
