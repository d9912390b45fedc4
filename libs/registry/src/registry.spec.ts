/**
 * Rules that every contract must follow. They iterate over the registry, so they apply to new operations too.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  targetKinds,
  reasons,
  reasonsOf,
  eventKinds,
  events,
  defaultBodyLimitBytes,
  type Operation,
  isOperation,
} from '@muster/contract';
import { attachmentsRegistry } from '@muster/attachments-registry';
import { billingRegistry } from '@muster/billing-registry';
import { boardRegistry } from '@muster/board-registry';
import { deliveryRegistry } from '@muster/delivery-registry';
import { forgesRegistry } from '@muster/forges-registry';
import { gamificationRegistry } from '@muster/gamification-registry';
import { notificationsRegistry } from '@muster/notifications-registry';
import { organizationsRegistry } from '@muster/organizations-registry';
import { operations, registry } from './registry.ts';
import { jsonSchemaOf, type Schema, surfaceText } from './surface.ts';

/** Yields each operation of the registry with the path at which it stands. */
function* operationEntriesOf(node: object, place: readonly string[] = []): Generator<[string, Operation]> {
  for (const [word, child] of Object.entries(node) as [string, unknown][]) {
    if (isOperation(child)) yield [[...place, word].join('.'), child];
    else yield* operationEntriesOf(child as object, [...place, word]);
  }
}
const operationEntries = [...operationEntriesOf(registry)];
const allOperations = [...operations.values()];

/** Returns the operations that violate a rule, each with its reason. */
function violationsOf(
  operationsByName: Iterable<[string, Operation]>,
  check: (operation: Operation, name: string) => void,
): string[] {
  const violations: string[] = [];
  for (const [name, operation] of operationsByName) {
    try {
      check(operation, name);
    } catch (error) {
      violations.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return violations;
}

/** Defines a test that names every operation that violates the rule. */
const itForEachOperation = (title: string, check: (operation: Operation) => void): void => {
  it(title, () => {
    expect(violationsOf(operations, check)).toEqual([]);
  });
};

/** Yields a schema and all nested schemas, each with its path. */
function* schemaNodesOf(schema: Schema, at = ''): Generator<[string, Schema]> {
  yield [at, schema];
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* schemaNodesOf(field, `${at}.${name}`);
  for (const [name, record] of Object.entries(schema.$defs ?? {}))
    yield* schemaNodesOf(record, `${at}#${name}`);
  for (const choice of schema.anyOf ?? []) yield* schemaNodesOf(choice, at);
  if (schema.items !== undefined) yield* schemaNodesOf(schema.items, `${at}[]`);
  if (typeof schema.additionalProperties === 'object')
    yield* schemaNodesOf(schema.additionalProperties, `${at}.*`);
}
const paramsOf = (operation: Operation): [string, Schema][] => [
  ...schemaNodesOf(jsonSchemaOf(operation.params, 'input')),
];
const resultOf = (operation: Operation): [string, Schema][] => [
  ...schemaNodesOf(jsonSchemaOf(operation.result, 'output')),
];
/** Returns the paths of the schemas for which `breaks` returns true. */
const listViolations = (parts: [string, Schema][], breaks: (part: Schema) => boolean): string[] =>
  parts.filter(([, part]) => breaks(part)).map(([at]) => at);

/** Operations whose items are part of one record of limited size, so they have no pages. */
const boundedItems: readonly string[] = ['plans.get'];

it('has every operation of each domain, also where domains share a namespace', () => {
  const domains = [
    ...[attachmentsRegistry, billingRegistry, boardRegistry, deliveryRegistry, forgesRegistry],
    ...[gamificationRegistry, notificationsRegistry, organizationsRegistry],
  ];
  const names = domains.flatMap((domain) => [...operationEntriesOf(domain)].map(([name]) => name));
  expect(names.toSorted()).toEqual([...operations.keys()].toSorted());
});

describe('names', () => {
  it('of all operations are the places where they stand', () => {
    const violations = violationsOf(operationEntries, (operation, place) => {
      expect(operation.name).toBe(place);
      expect(operation.namespace).toBe(place.slice(0, place.lastIndexOf('.')));
      expect(place).toMatch(/^[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+$/);
    });
    expect(violations).toEqual([]);
  });

  it('are given once', () => {
    expect(operations.size).toBe(operationEntries.length);
    const asPaths = allOperations.map((operation) => operation.name.replaceAll('.', '/').toLowerCase());
    expect(new Set(asPaths).size).toBe(asPaths.length);
  });

  it('say a list is a list', () => {
    const reads = allOperations.filter(
      ({ name, effect, result }) =>
        effect === 'read' && 'items' in result.shape && !boundedItems.includes(name),
    );
    // A list in a result is usually named after its namespace. The lists of the operators, the leaderboard,
    // replies, changed files and search results are named after their items.
    for (const { name } of reads)
      expect(name).toMatch(
        /\.((list|history)[A-Za-z]*|leaderboard|eventsSince|inbox|log|replies|find|search|summary|record|diff)$|^admin\.platform\.[a-z]+s$/,
      );
  });
});

describe('every operation', () => {
  itForEachOperation('says what it does in a line, and more in sentences', (operation) => {
    expect(operation.summary).toMatch(/^[A-Z].*[^.\s]$/);
    expect(operation.summary.length).toBeLessThanOrEqual(80);
    expect(operation.description).toMatch(/^[^\s].*[^\s]\.$/s);
    expect(operation.description).not.toContain(operation.summary);
  });

  itForEachOperation('accepts its own example, and no parameter beyond', (operation) => {
    const parsed = operation.params.safeParse(operation.example);
    expect(parsed.error?.issues).toBeUndefined();
    // The example has only values that JSON can represent, because a client sends JSON.
    expect(JSON.parse(JSON.stringify(operation.example))).toEqual(operation.example);
    const surplus = operation.params.safeParse({ ...operation.example, notAParameter: 1 });
    expect(surplus.error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: ['notAParameter'] }]);
  });

  itForEachOperation('refuses unknown fields at any depth of its parameters', (operation) => {
    const open = listViolations(
      paramsOf(operation),
      (part) => part.properties !== undefined && part.additionalProperties !== false,
    );
    expect(open).toEqual([]);
  });

  itForEachOperation('bounds every text, list and number that it takes', (operation) => {
    const unbounded = listViolations(paramsOf(operation), (part) => {
      if (part.enum !== undefined || 'const' in part) return false;
      if (part.type === 'string') return !['maxLength', 'pattern', 'format'].some((bound) => bound in part);
      if (part.type === 'array') return !('maxItems' in part);
      return (part.type === 'integer' || part.type === 'number') && !('minimum' in part && 'maximum' in part);
    });
    expect(unbounded).toEqual([]);
  });

  itForEachOperation(
    'takes the handle or slug of a member or agent wherever it takes the id',
    (operation) => {
      // Matches the names of parameters that accept a member or an agent. In the agent catalog, only ids are
      // accepted, because an agent's slug has its own parameter there.
      const isPerson =
        /(^|\.)(directedTo|\w*(member|agent|actor|holder|assignee|reviewer|author)Ids?)(\[\])?$/i;
      const idsAlone =
        operation.namespace === 'agents.catalog'
          ? []
          : paramsOf(operation)
              .filter(([at, { format }]) => format === 'uuid' && isPerson.test(at))
              .map(([at]) => at);
      expect(idsAlone).toEqual([]);
      const named = paramsOf(operation).filter(([, part]) =>
        ['member', 'agent', 'actor'].includes(part['x-muster-ref'] as string),
      );
      expect(operation.personPaths.map(({ path }) => `.${path.join('.').replaceAll('.[]', '[]')}`)).toEqual(
        named.map(([at]) => at),
      );
    },
  );

  itForEachOperation('takes a body large enough for its longest texts', (operation) => {
    const longest = paramsOf(operation).map(([, part]) =>
      typeof part['maxLength'] === 'number' ? part['maxLength'] : 0,
    );
    expect(Math.max(0, ...longest)).toBeLessThan(operation.bodyLimit);
    expect(operation.bodyLimit).toBeGreaterThanOrEqual(defaultBodyLimitBytes);
  });

  itForEachOperation('answers an object in which nothing is ever missing, only null', (operation) => {
    const parts = resultOf(operation);
    expect(parts[0]?.[1].type).toBe('object');
    const optional = listViolations(parts, ({ properties = {}, required = [] }) =>
      Object.keys(properties).some((field) => !required.includes(field)),
    );
    expect(optional).toEqual([]);
  });

  itForEachOperation('has pages, or says why not', (operation) => {
    const { shape } = operation.result;
    if (boundedItems.includes(operation.name)) return;
    // A stream is exempt, because it is read from one position to the next and has no last page.
    if (!('items' in shape) || 'lastSeq' in shape || 'lastLine' in shape || 'cursor' in shape) return;
    expect(Object.keys(shape)).toContain('nextCursor');
    if (operation.effect === 'write') return;
    const paged = 'limit' in operation.params.shape && 'cursor' in operation.params.shape;
    expect(paged || operation.description.includes('not paged')).toBe(true);
  });

  itForEachOperation('finds its project by its first parameter', (operation) => {
    const [first, second] = Object.keys(operation.params.shape);
    const { target } = operation;
    if (operation.access.kind !== 'project') {
      expect(target).toBeNull();
      return;
    }
    if (target === null) throw new Error('no parameter names a record inside a project');
    const named = targetKinds[target];
    if (typeof named === 'string') {
      expect(target).toBe(first);
      if (operation.alternativeTarget !== null)
        expect(Object.keys(operation.params.shape)).toContain(operation.alternativeTarget);
      return;
    }
    // The parameter that gives the kind of record stands before the target parameter. It accepts exactly the
    // kinds of the target parameter.
    expect([first, second]).toEqual([named.saidBy, target]);
    const { properties } = jsonSchemaOf(operation.params, 'input');
    for (const type of properties?.[named.saidBy]?.enum ?? [])
      expect(Object.keys(named.kinds)).toContain(type);
  });

  itForEachOperation('refuses a write into an archived project, or says that it reaches one', (operation) => {
    const guarded =
      operation.effect === 'write' && operation.access.kind === 'project' && !operation.reachesArchived;
    if (guarded) expect(operation.refusals).toContain('archived');
    if (operation.effect === 'read') expect(operation.reachesArchived).toBe(false);
  });

  itForEachOperation('names refusals and events that there are, each once', (operation) => {
    for (const reason of operation.refusals) expect(Object.keys(reasons)).toContain(reason);
    for (const kind of operation.emits) expect(eventKinds).toContain(kind);
    expect(new Set(operation.refusals).size).toBe(operation.refusals.length);
    expect(new Set(operation.emits).size).toBe(operation.emits.length);
    if (operation.effect === 'write') return;
    expect(operation.emits).toEqual([]);
    // Among reads, only a stream declares a reason for refusal of its own: its events may no longer be stored.
    expect(operation.refusals.filter((reason) => reason !== 'resync')).toEqual([]);
  });

  itForEachOperation(
    'takes expectedVersion exactly if it refuses another version, or has a base of its own',
    (operation) => {
      const conditional =
        'expectedVersion' in operation.params.shape ||
        'baseVersion' in operation.params.shape ||
        'expectedSeq' in operation.params.shape;
      expect(operation.refusals.includes('version_mismatch')).toBe(conditional);
    },
  );
});

describe('events and refusals', () => {
  it('are named alike: events in the past tense, reasons in small letters', () => {
    for (const kind of eventKinds) expect(kind).toMatch(/^[a-z]+\.[a-z][A-Za-z]*(ed|read)$/);
    for (const reason of Object.keys(reasons)) expect(reason).toMatch(/^[a-z]+(_[a-z]+)*$/);
    for (const { meaning, remedy } of Object.values(reasons))
      for (const sentence of [meaning, remedy]) expect(sentence).toMatch(/^[A-Z].*\.$/);
    for (const data of Object.values(events)) expect(jsonSchemaOf(data, 'output').type).toBe('object');
  });

  it('all come from somewhere', () => {
    const said = new Set<string>(allOperations.flatMap((operation) => operation.emits));
    // Events that no operation emits. A file arrives by a request of its own. Identity providers add members by SCIM. A person who accepts an invitation calls no operation, because there is
    // no token yet. The worker emits expiries and events of forges.
    const saidElsewhere = [
      ...[
        'story.mergeReverted',
        'attachment.added',
        'member.added',
        'member.updated',
        'invitation.accepted',
        'forge.deliveriesFailed',
        'lease.expired',
      ],
    ];
    expect(eventKinds.filter((kind) => !said.has(kind))).toEqual(saidElsewhere);
    const refused = new Set<string>(allOperations.flatMap((operation) => operation.refusals));
    // Reasons that no operation declares. They come from the pipeline, uploads of files, the
    // event stream, the MCP gateway and the license service.
    const fromElsewhere = [
      ...['idempotency_in_flight', 'idempotency_mismatch', 'blocked', 'stream_replaced'],
      ...['upload_mismatch', 'upload_infected'],
      ...['active_on_another_machine', 'slots_taken', 'not_activated', 'order_mismatch', 'several_machines'],
      ...['meter_exceeded', 'events_refused'],
    ];
    expect(
      [...reasonsOf('conflict'), ...reasonsOf('unprocessable')]
        .filter((reason) => !refused.has(reason))
        .sort(),
    ).toEqual(fromElsewhere.sort());
  });
});

describe('an agent', () => {
  const named = (wanted: 'byMemberOnly' | 'readsInbox') =>
    allOperations.filter((operation) => operation[wanted]).map(({ name }) => name);

  // These tests list the operations by name, because no derived check would notice an operation that lacks
  // the flag.
  it("does nothing in its member's name that is the member's own to do", () => {
    const own = allOperations
      .filter(({ namespace, effect }) => namespace === 'notifications' && effect === 'write')
      .map(({ name }) => name);
    const tokens = ['tokens.create', 'tokens.list', 'tokens.revoke'];
    const agents = ['agents.create', 'agents.list', 'agents.retire'];
    const connections = ['connections.list', 'connections.revoke'];
    const sessions = ['sessions.list', 'sessions.revoke', 'sessions.revokeOthers'];
    const passkeys = ['passkeys.delete', 'passkeys.list', 'passkeys.rename'];
    const providers = ['delete', 'list', 'test', 'upsert'].map((word) => `identityProviders.${word}`);
    const forges = [
      ...['connect', 'get', 'list', 'update', 'disconnect'].map((word) => `forges.${word}`),
      ...['list', 'link', 'unlink'].map((word) => `forges.repositories.${word}`),
      ...['list', 'redeliver'].map((word) => `forges.deliveries.${word}`),
    ];
    // Operations of imports, exports and webhooks are for people only. Imports create records in the names of
    // others; exports and webhooks send data out of the organization.
    const imports = allOperations.filter(({ namespace }) => namespace === 'imports').map(({ name }) => name);
    const webhooks = allOperations.filter(({ name }) => name.startsWith('webhooks.')).map(({ name }) => name);
    const exported = allOperations.filter(({ namespace }) => namespace === 'exports').map(({ name }) => name);
    expect(named('byMemberOnly').sort()).toEqual(
      [
        ...agents,
        ...forges,
        ...exported,
        ...['connectChat', 'connectSlackAccount', 'list', 'register', 'unregister'].map(
          (word) => `devices.${word}`,
        ),
        ...imports,
        'members.leave',
        'stories.subscribe',
        ...own,
        ...connections,
        ...passkeys,
        ...providers,
        ...sessions,
        ...tokens,
        ...webhooks,
        ...['budgets.set', 'budgets.list', 'budgets.delete', 'usage.prices.set'],
      ].sort(),
    );
    expect(own).toHaveLength(4);
    expect(imports).toHaveLength(6);
    expect(webhooks).toHaveLength(13);
  });

  it("reads its member's inbox only where it was let, and how they are told", () => {
    const reads = allOperations.filter(
      ({ namespace, effect }) => namespace === 'notifications' && effect === 'read',
    );
    expect(named('readsInbox')).toEqual(reads.map(({ name }) => name));
    expect(reads).toHaveLength(3);
  });
});

describe('the surface', () => {
  // After an intended change, `npm run generate` updates the snapshot, and reviewers read its diff.
  it('is the pinned one', () => {
    const pinned = readFileSync(path.join(import.meta.dirname, '../surface.generated.json'), 'utf8');
    expect(JSON.parse(surfaceText())).toEqual(JSON.parse(pinned));
    expect(surfaceText()).toBe(pinned);
  });
});
