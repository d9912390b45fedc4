/**
 * Finds the parameters that name records. It reads the contract, so that new fields are included
 * automatically.
 */
import { type Operation, type PersonKind } from '@muster/contract';
import { type ExampleRecordIds } from '@muster/examples';
import { z } from 'zod';

type Path = readonly (string | number)[];

export interface RefField {
  readonly path: Path;
  readonly kind: keyof ExampleRecordIds;
  /** True for members and agents, which can also be named by handle or slug. */
  readonly takesName: boolean;
}

interface Json {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Record<string, Json>;
  readonly items?: Json;
  readonly anyOf?: readonly Json[];
  readonly 'x-muster-ref'?: 'story' | 'project' | PersonKind;
}

/**
 * The kind of record that an id field names, in one operation or in all. A field without an entry fails the
 * test.
 */
const kindOfIdField: Record<string, keyof ExampleRecordIds> = {
  columnId: 'column',
  columnIds: 'column',
  afterColumnId: 'column',
  moveStoriesToColumnId: 'column',
  epicId: 'epic',
  commentId: 'comment',
  parentId: 'comment',
  teamId: 'team',
  'agents.catalog.get agentId': 'catalogAgent',
  'agents.catalog.download agentId': 'catalogAgent',
  'forges.deliveries.redeliver deliveryId': 'forgeDelivery',
  connectionId: 'forgeConnection',
  accessRequestId: 'accessRequest',
  notificationIds: 'notification',
  invitationId: 'invitation',
  teamIds: 'team',
  executionId: 'execution',
  lockId: 'lock',
  groupId: 'group',
  importId: 'import',
  exportId: 'export',
  planId: 'plan',
  viewId: 'view',
  budgetId: 'budget',
  attachmentId: 'attachment',
  questionId: 'comment',
  threadId: 'comment',
  tokenId: 'token',
  sessionId: 'session',
  passkeyId: 'passkey',
  providerId: 'identityProvider',
  allowedIdentityProviders: 'identityProvider',
  storyIds: 'story',
  webhookId: 'webhook',
  deliveryId: 'webhookDelivery',
};

function* walk(operation: string, schema: Json, path: Path): Generator<RefField> {
  for (const option of schema.anyOf ?? []) yield* walk(operation, option, path);
  const ref = schema['x-muster-ref'];
  if (ref === 'story' || ref === 'project') yield { path, kind: ref, takesName: false };
  else if (ref !== undefined) yield { path, kind: ref === 'actor' ? 'member' : ref, takesName: true };
  else if (schema.format === 'uuid') {
    const word = path.filter((part): part is string => typeof part === 'string').at(-1) ?? '';
    const kind = kindOfIdField[`${operation} ${word}`] ?? kindOfIdField[word];
    if (kind === undefined) throw new Error(`teach this test which kind of record ${word} names`);
    yield { path, kind, takesName: false };
  }
  if (schema.items !== undefined) yield* walk(operation, schema.items, [...path, 0]);
  for (const [key, property] of Object.entries(schema.properties ?? {}))
    yield* walk(operation, property, [...path, key]);
}

/** Lists every parameter of the operation that names a record. */
export const refFields = (operation: Operation): RefField[] => [
  ...walk(
    operation.name,
    z.toJSONSchema(operation.params, { io: 'input', unrepresentable: 'any' }) as Json,
    [],
  ),
];

/** Copies `value` with `leaf` at `path`, and creates missing objects on the way. */
export function withLeaf(value: unknown, path: Path, leaf: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return leaf;
  if (typeof head === 'number') {
    const items = Array.isArray(value) ? [...(value as unknown[])] : [];
    items[head] = withLeaf(items[head], rest, leaf);
    return items;
  }
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { ...object, [head]: withLeaf((object as Record<string, unknown>)[head], rest, leaf) };
}
