/** The fields of parameters that name records, found in the contract itself so that a new one is met by itself. */
import { type Operation, type PersonKind } from '@muster/registry';
import { type Records } from '@muster/testing/examples';
import { z } from 'zod';

type Path = readonly (string | number)[];

export interface RefField {
  readonly path: Path;
  readonly kind: keyof Records;
  /** True for members and agents that a handle or a slug names as well. */
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

/** Which kind of record a field of ids names, in one operation or in all. A field that is missing here fails the loop that meets it. */
const kindOfIdField: Record<string, keyof Records> = {
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

/** Every parameter of the operation that names a record. */
export const refFields = (operation: Operation): RefField[] => [
  ...walk(
    operation.name,
    z.toJSONSchema(operation.params, { io: 'input', unrepresentable: 'any' }) as Json,
    [],
  ),
];

/** A deep copy of `value` in which the place at `path` holds `leaf`; what is missing on the way is made. */
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
