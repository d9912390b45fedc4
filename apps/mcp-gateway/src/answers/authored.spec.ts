import { describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { authoredFields, listAuthoredPaths } from './authored.ts';
import { resultSchema, type ToolSchema } from '../tools/schemas.ts';

/**
 * Text fields that no author chooses: identifiers of the product, versions, commits, addresses and secrets.
 */
const nonAuthoredFields: ReadonlySet<string> = new Set([
  ...['field', 'fields'],
  ...[
    'key',
    'storyKey',
    'targetKey',
    'slug',
    'orgSlug',
    'handle',
    'runId',
    'deviceId',
    'dedupeKey',
    'email',
    'ip',
  ],
  ...['state', 'kind', 'type', 'event', 'operation', 'requestId', 'deliveryId', 'byKind', 'byRole', 'kinds'],
  ...[
    'headSha',
    'sha',
    'sha256',
    'diffHash',
    'contentHash',
    'version',
    'apiVersion',
    'appVersion',
    'rank',
    'week',
  ],
  ...[
    'url',
    'baseUrl',
    'appUrl',
    'webhookUrl',
    'manifestUrl',
    'host',
    'provider',
    'importedFrom',
    'externalId',
    'userAgent',
  ],
  ...[
    'leaseToken',
    'secret',
    'prefix',
    'lastFour',
    'cursor',
    'nextCursor',
    'repliesCursor',
    'oldest',
    'color',
  ],
  ...[
    'contentType',
    'downloadUrl',
    'headers',
    'emoji',
    'defaultBranch',
    'currency',
    'estimated',
    'features',
    'plans',
    'executions',
    'queues',
  ],
  ...[
    'params',
    'target',
    'storyId',
    'counts',
    'leftOut',
    'blockedBy',
    'allowedEmailDomains',
    'epics',
    'stories',
    'cut',
  ],
]);

function* textFields(schema: ToolSchema, name = ''): Generator<string> {
  const { type, properties, items, anyOf, enum: values, format, const: only } = schema;
  for (const option of (anyOf as ToolSchema[] | undefined) ?? []) yield* textFields(option, name);
  if (items !== undefined) yield* textFields(items as ToolSchema, name);
  for (const [key, field] of Object.entries(properties ?? {})) yield* textFields(field, key);
  // The type of a nullable field is a list.
  const isText =
    [type].flat().includes('string') && values === undefined && format === undefined && only === undefined;
  const isOpen = type === 'object' && properties === undefined;
  if (isText || isOpen) yield name;
}

describe('what others wrote', () => {
  it('is known of each field of text in the answers of the contract', () => {
    const tools = [...operations.values()].filter(({ surfaces }) => surfaces.includes('tool'));
    const unknown = tools.flatMap(({ name, result }) =>
      [...textFields(resultSchema(result))]
        .filter((field) => !authoredFields.has(field) && !nonAuthoredFields.has(field) && field !== 'id')
        .map((field) => `${name}: ${field}`),
    );
    expect([...new Set(unknown)]).toEqual([]);
    expect([...authoredFields].filter((field) => nonAuthoredFields.has(field))).toEqual([]);
  });

  it('is named by its paths, each once, where it says something', () => {
    expect(
      listAuthoredPaths({
        items: [
          { key: 'WEB-1', title: 'One', description: '', replies: [{ body: 'Yes' }] },
          { key: 'WEB-2', title: 'Two', description: 'Long', replies: [] },
        ],
        execution: { checkpoint: { seq: 1, summary: 'Half', nextSteps: [], data: { plan: ['x'] } } },
        spec: { version: 2, content: null },
      }),
    ).toEqual([
      ...['items[].title', 'items[].replies[].body', 'items[].description'],
      ...['execution.checkpoint.summary', 'execution.checkpoint.data'],
    ]);
  });
});
