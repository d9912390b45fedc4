/**
 * Parameter descriptions for the core tools, where the contract has none and models guess wrong from the
 * name.
 */
import { type ObjectSchema } from './schemas.ts';

const parameterDescriptions: Readonly<Record<string, string>> = {
  after: 'Last cursor',
  agentId: 'Assigned agent',
  anchor: 'Line of the spec',
  assigneeId: 'Assigned member',
  assignedToMe: 'Only yours',
  baseVersion: 'Version you read; required if one exists',
  body: 'Markdown',
  branch: 'Name as pushed',
  columnId: 'Of the board',
  content: 'Full spec, Markdown',
  cursor: 'nextCursor',
  data: 'JSON object',
  diffHash: 'Hash of reviewed diff',
  directedTo: 'Who knows: @ana',
  epicId: 'In one epic',
  executionId: 'From start_work',
  failure: 'Why, if failed',
  filesTouched: 'From repository root',
  headSha: 'Commit hash',
  includeArchived: 'Default: false',
  kind: 'Default: comment',
  label: 'Exact name',
  labels: 'All must match',
  leaseToken: 'Newest token received',
  limit: 'Items per page',
  maxBytes: 'Size limit of the answer',
  nextSteps: 'Remaining, in order',
  note: 'Shown to people',
  outcome: 'Default: submitted',
  parentId: 'Comment to reply to',
  part: 'From cut, to read on',
  projectId: 'Id or key: WEB',
  pullRequest: 'If opened',
  pushed: 'headSha is on the remote',
  question: 'Markdown',
  reason: 'Shown to people',
  runId: 'Any text; the same resumes this run',
  specVersion: 'You reviewed',
  status: 'New status',
  storyId: 'Id or key: WEB-42',
  summary: 'Progress for the next holder',
  toAgentId: 'Or toMemberId',
  toMemberId: 'Or toAgentId',
  ttlSeconds: 'Of the lease',
  verdict: 'Your decision',
};

/** Parameters whose description here replaces the contract's. */
const overriddenParameters: ReadonlySet<string> = new Set([
  'after',
  'runId',
  'outcome',
  'directedTo',
  'labels',
  'baseVersion',
]);

/** Returns the schema with the parameter descriptions of this file added. */
export function addParameterDescriptions(schema: ObjectSchema): ObjectSchema {
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const own = overriddenParameters.has(name) ? undefined : property.description;
    const description = own ?? parameterDescriptions[name] ?? property.description;
    return [name, description === undefined ? property : { ...property, description }];
  });
  return { ...schema, properties: Object.fromEntries(properties) as ObjectSchema['properties'] };
}
