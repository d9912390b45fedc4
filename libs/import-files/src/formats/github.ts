/**
 * Reads GitHub files: `gh issue list --json …`, answers of the REST API, and `gh project item-list --format
 * json`.
 */
import { type StoryStatus } from '@muster/contract';
import { z } from 'zod';
import { type ImportDraft, type OpenedFile, type ParsedItem } from '../draft.ts';
import { flattenNesting, type Nesting } from '../nesting.ts';
import { readJson, UnreadableFileError, type TextSource } from '../source.ts';
import { isObject, listUnreadFields, listUnreadFieldsOfPart } from '../unread.ts';
import { listOrNodesSchema, parseEach } from './json.ts';
import { openGithubProject } from './github-project.ts';
import {
  isPullRequestUrl,
  getMilestoneDueDate,
  listUnimportedMilestoneFields,
  parseIssueReference,
} from './github-reference.ts';

const Login = z.looseObject({ login: z.string(), name: z.string().nullish() });
const Milestone = z.looseObject({ number: z.number().nullish(), title: z.string() }).nullish();
const RelatedIssue = z.looseObject({ number: z.number(), url: z.string().nullish() });
const Issue = z.looseObject({
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string().default('open'),
  /** `gh` writes the reason in capitals; the API writes it in `state_reason`. */
  stateReason: z.string().nullish(),
  state_reason: z.string().nullish(),
  labels: listOrNodesSchema(z.union([z.string(), z.looseObject({ name: z.string() })])),
  assignees: listOrNodesSchema(Login),
  milestone: Milestone,
  /** `gh` writes the list of comments, and the API writes their number. */
  comments: z
    .union([
      z.number(),
      z.array(
        z.looseObject({
          id: z.string().nullish(),
          author: Login.nullish(),
          body: z.string().nullish(),
          createdAt: z.string().nullish(),
          isMinimized: z.boolean().nullish(),
          minimizedReason: z.string().nullish(),
        }),
      ),
    ])
    .nullish(),
  blockedBy: listOrNodesSchema(RelatedIssue),
  subIssues: listOrNodesSchema(RelatedIssue),
  blocking: listOrNodesSchema(RelatedIssue),
  parent: RelatedIssue.nullish(),
  /** The API's address of the parent issue. */
  parent_issue_url: z.string().nullish(),
  createdAt: z.string().nullish(),
  created_at: z.string().nullish(),
  updatedAt: z.string().nullish(),
  updated_at: z.string().nullish(),
  url: z.string().nullish(),
  html_url: z.string().nullish(),
  /** Set for pull requests, which the API lists among the issues. */
  pull_request: z.unknown().optional(),
});
type Issue = z.infer<typeof Issue>;

const knownIssueFields = new Set([
  ...Object.keys(Issue.shape),
  // The fields with internal numbers and addresses of GitHub, and the fields that repeat others.
  ...['id', 'node_id', 'closed', 'closedAt', 'closed_at', 'assignee', 'author_association', 'repository_url'],
  ...['labels_url', 'comments_url', 'events_url', 'timeline_url', 'performed_via_github_app'],
  ...['sub_issues_summary', 'subIssuesSummary', 'repository', 'score'],
]);

const knownCommentFields = new Set([
  ...['id', 'author', 'authorAssociation', 'body', 'createdAt', 'includesCreatedEdit', 'url'],
  ...['viewerDidAuthor', 'isMinimized', 'minimizedReason', 'reactionGroups'],
]);

type Comment = Exclude<NonNullable<Issue['comments']>, number>[number];

const hasReactions = ({ reactionGroups }: Comment): boolean =>
  Array.isArray(reactionGroups) &&
  reactionGroups.some(
    (group) => !isObject(group) || !isObject(group['users']) || group['users']['totalCount'] !== 0,
  );

/** Lists the parts of a comment that are not imported, or the whole comment if GitHub hides it. */
const listUnimportedCommentParts = (comment: Comment): string[] =>
  comment.isMinimized === true
    ? [`hidden comment (${(comment.minimizedReason ?? '').toLowerCase() || 'without a reason'})`]
    : [
        ...listUnreadFieldsOfPart('a comment', comment, knownCommentFields),
        ...(hasReactions(comment) ? ['reactions of a comment'] : []),
      ];

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Returns true for a pull request. The API marks it with a field; lists of `gh pr` show it by state or
 * address.
 */
const isPullRequestIssue = (issue: Issue): boolean =>
  isPresent(issue.pull_request) ||
  issue.state.toLowerCase() === 'merged' ||
  isPullRequestUrl(issue.html_url ?? issue.url);

function mapIssueStatus(issue: Issue): { status: string; statusIs: StoryStatus } {
  if (issue.state.toLowerCase() === 'open') return { status: 'open', statusIs: 'backlog' };
  const reason = (issue.stateReason ?? issue.state_reason ?? '').toLowerCase();
  return ['not_planned', 'duplicate'].includes(reason)
    ? { status: `closed (${reason.replace('_', ' ')})`, statusIs: 'canceled' }
    : { status: 'closed', statusIs: 'done' };
}

const getIssueUrl = (issue: Issue): string | undefined => issue.html_url ?? issue.url ?? undefined;
const getRepositoryName = (issue: Issue): string =>
  parseIssueReference(getIssueUrl(issue))?.replace(/#.*/, '') ?? '';
const getIssueId = (issue: Issue): string => parseIssueReference(getIssueUrl(issue)) ?? `#${issue.number}`;

/** Returns the id of a related issue. A related issue without an address is in the repository of `issue`. */
const getRelatedIssueId = (issue: Issue, relatedIssue: z.infer<typeof RelatedIssue>): string =>
  parseIssueReference(relatedIssue.url) ?? `${getRepositoryName(issue)}#${relatedIssue.number}`;

const getParentId = (issue: Issue): string | undefined =>
  issue.parent ? getRelatedIssueId(issue, issue.parent) : parseIssueReference(issue.parent_issue_url);

/** The relations between the issues of a file. Keys and values are ids. */
interface IssueRelations {
  /** The issues that state that they block an issue; a set for each issue of the file. */
  readonly blockers: ReadonlyMap<string, Set<string>>;
  /** The nesting of issues of the file in one another. */
  readonly nesting: Nesting;
}

function findRelations(issues: readonly Issue[]): IssueRelations {
  const blockers = new Map(issues.map((issue) => [getIssueId(issue), new Set<string>()]));
  const parents = new Map<string, string>();
  for (const issue of issues) {
    const id = getIssueId(issue);
    for (const other of issue.blocking) blockers.get(getRelatedIssueId(issue, other))?.add(id);
    const parent = getParentId(issue);
    if (parent !== undefined && blockers.has(parent)) parents.set(id, parent);
    for (const part of issue.subIssues.map((other) => getRelatedIssueId(issue, other)))
      if (blockers.has(part)) parents.set(part, id);
  }
  return { blockers, nesting: flattenNesting(parents) };
}

/** Lists the fields that name issues of other files, which cannot be changed. */
function listForeignRelations(issue: Issue, { blockers }: IssueRelations): string[] {
  const parent = getParentId(issue);
  return [
    ...(parent === undefined || blockers.has(parent) ? [] : ['parent']),
    ...issue.blocking.flatMap((other) => (blockers.has(getRelatedIssueId(issue, other)) ? [] : ['blocking'])),
  ];
}

function toDraft(issue: Issue, relations: IssueRelations): ImportDraft {
  const { number, title, body, labels, assignees, milestone, comments } = issue;
  const { blockers, nesting } = relations;
  const id = getIssueId(issue);
  const isCount = typeof comments === 'number';
  const commentList = isCount ? [] : (comments ?? []);
  return {
    place: `issue ${number}`,
    externalId: id,
    url: getIssueUrl(issue),
    title,
    description: body ?? undefined,
    ...mapIssueStatus(issue),
    labels: labels.map((label) => (typeof label === 'string' ? label : label.name)),
    epic: milestone
      ? {
          externalId: `${getRepositoryName(issue)} milestone ${milestone.number ?? milestone.title}`,
          title: milestone.title,
          targetDate: getMilestoneDueDate(milestone),
        }
      : undefined,
    parent: nesting.parents.get(id),
    blockedBy: [
      ...new Set([
        ...issue.blockedBy.map((other) => getRelatedIssueId(issue, other)),
        // A sub-issue that this file does not contain cannot get a parent, so it becomes a blocker of the issue.
        ...issue.subIssues
          .map((other) => getRelatedIssueId(issue, other))
          .filter((other) => !blockers.has(other)),
        ...(blockers.get(id) ?? []),
        ...(nesting.blockersById.get(id) ?? []),
      ]),
    ],
    assignees: assignees.map(({ login }) => login),
    createdAt: issue.createdAt ?? issue.created_at ?? undefined,
    updatedAt: issue.updatedAt ?? issue.updated_at ?? undefined,
    comments: commentList
      .filter(({ isMinimized }) => isMinimized !== true)
      .map((comment) => ({
        externalId: comment.id ?? undefined,
        author: comment.author?.login,
        body: comment.body ?? '',
        at: comment.createdAt ?? undefined,
      })),
    unimportedFields: [
      ...listUnreadFields(issue, knownIssueFields),
      ...listForeignRelations(issue, relations),
      ...(milestone ? listUnimportedMilestoneFields(milestone) : []),
      ...commentList.flatMap(listUnimportedCommentParts),
      ...(isCount && comments > 0 ? ['comments (the file has only their number)'] : []),
    ],
  };
}

/** Returns the issues of one list or of several pages. */
function extractIssues(json: unknown): unknown[] {
  if (Array.isArray(json)) return json.flat();
  throw new UnreadableFileError('the file is not a list of GitHub issues');
}

export async function openGithub(source: TextSource): Promise<OpenedFile> {
  const json = await readJson(source);
  if (isObject(json) && Array.isArray(json['items']) && !('incomplete_results' in json))
    return openGithubProject(json['items'], json['totalCount']);
  const list = isObject(json) && Array.isArray(json['items']) ? json['items'] : extractIssues(json);
  // GitHub lists the newest issue first. A board starts with the oldest one.
  const issues = parseEach(list, Issue, 'GitHub issue').toSorted((a, b) => a.number - b.number);
  const relations = findRelations(issues.filter((issue) => !isPullRequestIssue(issue)));
  return {
    notes: [],
    async *read(): AsyncGenerator<ParsedItem> {
      for (const issue of issues) {
        if (isPullRequestIssue(issue))
          yield { place: `pull request ${issue.number}`, skipped: 'pull request' };
        else yield { draft: toDraft(issue, relations) };
      }
    },
  };
}
