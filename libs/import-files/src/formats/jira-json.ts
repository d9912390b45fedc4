/** Reads answers of Jira's REST API, version 2: one answer, a list of answers, or the issues themselves. */
import { z } from 'zod';
import { type ReadOptions } from '../draft.ts';
import { UnreadableFileError } from '../source.ts';
import { isObject, type JsonItem, listUnreadFields, listUnreadFieldsOfPart } from '../unread.ts';
import { type JiraIssue } from './jira-issue.ts';
import { parseEach } from './json.ts';

const NamedObject = z.looseObject({ name: z.string() }).nullish();
const Person = z
  .looseObject({ displayName: z.string().nullish(), emailAddress: z.string().nullish() })
  .nullish();
const KeyedObject = z.looseObject({ key: z.string() });
const WikiText = z
  .string({ error: 'must be text; API version 3 returns another format, so export from /rest/api/2/search' })
  .nullish();

const IssueFields = z.looseObject({
  summary: z.string(),
  description: WikiText,
  issuetype: NamedObject,
  status: z
    .looseObject({ name: z.string(), statusCategory: z.looseObject({ key: z.string() }).nullish() })
    .nullish(),
  resolution: NamedObject,
  priority: NamedObject,
  labels: z.array(z.string()).nullish(),
  assignee: Person,
  created: z.string().nullish(),
  updated: z.string().nullish(),
  duedate: z.string().nullish(),
  parent: KeyedObject.extend({
    fields: z.looseObject({ summary: z.string().nullish() }).nullish(),
  }).nullish(),
  comment: z
    .looseObject({
      comments: z.array(
        z.looseObject({ id: z.string(), author: Person, body: WikiText, created: z.string().nullish() }),
      ),
      total: z.number().nullish(),
    })
    .nullish(),
  issuelinks: z
    .array(
      z.looseObject({
        type: NamedObject,
        inwardIssue: KeyedObject.nullish(),
        outwardIssue: KeyedObject.nullish(),
      }),
    )
    .nullish(),
});
const Issue = z.looseObject({
  id: z.string().nullish(),
  key: z.string(),
  self: z.string().nullish(),
  fields: IssueFields,
});
type Issue = z.infer<typeof Issue>;

const knownIssueFields = new Set([
  ...Object.keys(IssueFields.shape),
  ...['project', 'subtasks', 'statuscategorychangedate', 'lastViewed', 'resolutiondate', 'workratio'],
  ...['watches'],
]);

const knownCommentFields = new Set([
  ...['self', 'id', 'author', 'updateAuthor', 'body', 'renderedBody', 'created', 'updated', 'jsdPublic'],
]);

/** The names of custom fields by key, if the answer has them (`expand=names`). */
type FieldNames = Readonly<Record<string, string>>;

const hasFieldName = (fieldNames: FieldNames, fieldKey: string, ...acceptedNames: string[]): boolean =>
  acceptedNames.includes((fieldNames[fieldKey] ?? '').toLowerCase());

function toJiraIssue(issue: Issue, fieldNames: FieldNames, siteUrl: string | undefined): JiraIssue {
  const { id, key, self, fields } = issue;
  const isEpic = fields.issuetype?.name.toLowerCase() === 'epic';
  const links = fields.issuelinks ?? [];
  const blocking = links.filter(({ type }) => type?.name.toLowerCase() === 'blocks');
  const own = Object.keys(fields).filter((field) => field.startsWith('customfield_'));
  const estimateField = own.find((field) =>
    hasFieldName(fieldNames, field, 'story points', 'story point estimate'),
  );
  const estimate = fields[estimateField ?? ''];
  const epicLink = fields[own.find((field) => hasFieldName(fieldNames, field, 'epic link')) ?? ''];
  const read = new Set([
    ...knownIssueFields,
    ...own.filter((field) => hasFieldName(fieldNames, field, 'epic link', 'epic name', 'rank')),
  ]);
  if (typeof estimate === 'number' && estimateField !== undefined) read.add(estimateField);
  const { comments = [], total } = fields.comment ?? {};
  const missing = (total ?? 0) - comments.length;
  const address = siteUrl ?? (self != null && URL.canParse(self) ? new URL(self).origin : undefined);
  return {
    location: key,
    key,
    id: id ?? undefined,
    isEpic,
    title: fields.summary,
    dueDate: fields.duedate ?? undefined,
    description: fields.description ?? undefined,
    status: fields.status?.name,
    statusCategory: fields.status?.statusCategory?.key,
    resolution: fields.resolution?.name,
    priority: fields.priority?.name,
    labels: fields.labels ?? [],
    estimate: typeof estimate === 'number' ? estimate : undefined,
    assignee: fields.assignee?.emailAddress ?? fields.assignee?.displayName ?? undefined,
    createdAt: fields.created ?? undefined,
    updatedAt: fields.updated ?? undefined,
    url: address === undefined ? undefined : `${address.replace(/\/+$/, '')}/browse/${key}`,
    parents: [
      ...(typeof epicLink === 'string' ? [epicLink] : []),
      ...(fields.parent ? [fields.parent.key] : []),
    ],
    parentTitle: fields.parent?.fields?.summary ?? undefined,
    blockedBy: blocking.flatMap(({ inwardIssue }) => inwardIssue?.key ?? []),
    blocks: blocking.flatMap(({ outwardIssue }) => outwardIssue?.key ?? []),
    comments: comments.map((comment) => ({
      id: comment.id,
      author: comment.author?.displayName ?? undefined,
      email: comment.author?.emailAddress ?? undefined,
      body: comment.body ?? '',
      at: comment.created ?? undefined,
    })),
    unimportedFields: [
      ...listUnreadFields(fields as JsonItem, read).map((field) => fieldNames[field] ?? field),
      ...links.flatMap(({ type }) =>
        type?.name.toLowerCase() === 'blocks' ? [] : [`link ${type?.name ?? ''}`],
      ),
      ...comments.flatMap((comment) => listUnreadFieldsOfPart('a comment', comment, knownCommentFields)),
      ...(missing > 0 ? ['comments that are missing from the file'] : []),
    ],
  };
}

interface JiraResponse {
  readonly issues: readonly unknown[];
  readonly names: FieldNames;
}

function extractResponses(json: unknown): JiraResponse[] {
  if (Array.isArray(json))
    return json.some((one) => isObject(one) && 'issues' in one)
      ? json.flatMap(extractResponses)
      : [{ issues: json, names: {} }];
  if (!isObject(json) || !Array.isArray(json['issues']))
    throw new UnreadableFileError('the file is not a Jira API response: it has no issues');
  return [{ issues: json['issues'], names: isObject(json['names']) ? (json['names'] as FieldNames) : {} }];
}

export function openJiraResponses(
  json: unknown,
  { siteUrl: site }: ReadOptions,
): () => AsyncIterable<JiraIssue> {
  const issues = extractResponses(json).flatMap((answer) =>
    parseEach(answer.issues, Issue, 'Jira issue').map((issue) => toJiraIssue(issue, answer.names, site)),
  );
  return async function* all() {
    yield* issues;
  };
}
