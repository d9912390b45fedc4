/**
 * Reads rows of Jira's CSV. A column repeats if an issue has several values. Descriptions and comments are
 * wiki markup.
 */
import { requireColumns, openTable, type ParsedRow } from '../csv.ts';
import { type ReadOptions } from '../draft.ts';
import { type TextSource } from '../source.ts';
import { type JiraIssue } from './jira-issue.ts';

/**
 * The columns that are read, and columns that only repeat other columns. All other columns are reported as
 * left out.
 */
const knownColumns = new Set([
  ...['summary', 'issue key', 'issue id', 'issue type', 'status', 'status category', 'priority'],
  ...['resolution', 'assignee', 'assignee id', 'created', 'updated', 'resolved', 'labels', 'description'],
  ...['comment', 'comments', 'parent', 'parent id', 'parent key', 'parent summary'],
  ...['inward issue link (blocks)', 'outward issue link (blocks)', 'project key', 'project name'],
  ...['status category changed', 'last viewed', 'custom field (story points)'],
  ...['custom field (story point estimate)', 'custom field (epic link)', 'custom field (epic name)'],
  ...['custom field (rank)', 'reporter id', 'creator id', 'project lead id'],
]);

/** Parses `01/Mar/24 10:00 AM;author;words`. */
function parseComment(text: string): JiraIssue['comments'][number] {
  const [, at, author, body] = /^([^;\n]*);([^;\n]*);([^]*)$/.exec(text) ?? [];
  return body === undefined ? { author: undefined, body: text, at: undefined } : { author, body, at };
}

function toJiraIssue(row: ParsedRow, siteUrl: string | undefined): JiraIssue {
  const key = row.get('issue key');
  const isEpic = row.get('issue type')?.toLowerCase() === 'epic';
  return {
    location: key ?? `line ${row.line}`,
    key,
    id: row.get('issue id'),
    isEpic,
    title: row.get('summary') ?? row.get('custom field (epic name)') ?? '',
    dueDate: row.get('due date'),
    description: row.get('description'),
    status: row.get('status'),
    statusCategory: row.get('status category'),
    resolution: row.get('resolution'),
    priority: row.get('priority'),
    labels: row.getAll('labels').flatMap((labels) => labels.split(/[\s,]+/)),
    estimate: row.get('custom field (story points)', 'custom field (story point estimate)'),
    assignee: row.get('assignee'),
    createdAt: row.get('created'),
    updatedAt: row.get('updated'),
    url:
      siteUrl === undefined || key === undefined ? undefined : `${siteUrl.replace(/\/+$/, '')}/browse/${key}`,
    parents: row.getAll('custom field (epic link)', 'parent key', 'parent', 'parent id'),
    parentTitle: row.get('parent summary'),
    blockedBy: row.getAll('inward issue link (blocks)'),
    blocks: row.getAll('outward issue link (blocks)'),
    comments: row.getAll('comment', 'comments').map(parseComment),
    unimportedFields: row
      .listFilledColumns()
      .flatMap(({ name, title }) =>
        knownColumns.has(name) || name === 'due date' ? [] : [`column ${title}`],
      ),
  };
}

export async function openJiraRows(
  source: TextSource,
  { siteUrl: site }: ReadOptions,
): Promise<() => AsyncIterable<JiraIssue>> {
  const table = await openTable(source);
  requireColumns(table, 'Jira', ['summary'], ['issue key'], ['status']);
  return async function* issues() {
    for await (const row of table.rows()) yield toJiraIssue(row, site);
  };
}
