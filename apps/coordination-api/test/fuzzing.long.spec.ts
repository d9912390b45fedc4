/**
 * Generated requests to every operation, with several kinds of token, by its own path and through /api/query.
 * `npm run prove -- --only fuzzing` sends more of them, to separate processes and through MCP. Its findings
 * are in libs/examples/src/fuzz/corpus.json.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Operation, pathOf } from '@muster/contract';
import { operations } from '@muster/registry';
import { valuesMissedByValidation } from '@muster/runtime';
import { checkEachCase, type Person } from '@muster/testing';
import { exampleCallerOf, type ExampleOrg, createExampleOrg } from '@muster/examples';
import {
  findHttpFault,
  knownFailures,
  type KnownValues,
  collectKnownValues,
  requestsFor,
  type FuzzCall,
} from '@muster/examples/fuzz';
import fc from 'fast-check';
import { useApi } from './api.ts';
import { expectWellFormedAnswers } from './decent.ts';

const api = useApi();
const { world } = api;

/** A fixed seed, so that failures are reproducible. */
const seed = 1;
const requestsPerOperation = 12;

let holesBefore = valuesMissedByValidation.count;
afterEach(() => {
  const holes = valuesMissedByValidation.count - holesBefore;
  holesBefore = valuesMissedByValidation.count;
  // Postgres rejected a value that validation had accepted. In production this would alert an operator.
  expect(holes).toBe(0);
});

const callRoutes = ['path', 'dispatcher'] as const;
type CallRoute = (typeof callRoutes)[number];

async function faultOf(
  way: CallRoute,
  who: Person,
  sent: FuzzCall,
  known?: KnownValues,
): Promise<string | undefined> {
  const { operation, params } = sent;
  const answer =
    way === 'path'
      ? await api.request(pathOf(operation), { token: who.me.token, body: params })
      : await api.request('/api/query', {
          ...{ token: who.me.token, body: `{"operation":"${operation}","params":${params}}` },
        });
  if (known !== undefined && answer.status === 200) collectKnownValues(known, answer.text);
  const fault = findHttpFault(operations, sent, answer.status, answer.body);
  return fault === undefined ? undefined : `${operation} ${params} ${fault}: ${answer.text.slice(0, 300)}`;
}

const callersIn = async (org: ExampleOrg, operation: Operation): Promise<readonly Person[]> => {
  const { orgId, ana, dan, robo, operator } = org;
  const { project } = org.records;
  const [reader, bound] = await Promise.all([
    world.token(orgId, ana.me.memberId, { scopes: ['read'] }),
    world.token(orgId, ana.me.memberId, { scopes: ['admin'], projectIds: [project] }),
  ]);
  const main = exampleCallerOf(operation, org);
  // Most of these callers have access, because callers without access are refused early and would test
  // little.
  return [main, main, main, main, robo, dan, reader, bound, operator];
};

describe('what was found once', () => {
  it('is answered decently since', async () => {
    const org = await createExampleOrg(world);
    const faults: string[] = [];
    for (const sent of knownFailures) {
      for (const way of callRoutes) {
        const fault = await faultOf(way, org.ana, sent);
        if (fault !== undefined) faults.push(fault);
      }
    }
    expect(faults).toEqual([]);
  });
});

describe('whatever is sent', () => {
  it.each([...operations.values()].map((operation) => [operation.name, operation] as const))(
    'to %s is answered within the contract',
    async (_name, operation) => {
      const org = await createExampleOrg(world, { visibility: 'org' });
      const askers = await callersIn(org, operation);
      const known: KnownValues = { ids: Object.values<string>({ ...org.records }), cursors: [] };
      if ('cursor' in operation.params.shape) {
        const params = JSON.stringify({ ...operation.example, limit: 1 });
        await faultOf('path', exampleCallerOf(operation, org), { operation: operation.name, params }, known);
      }
      await fc.assert(
        fc.asyncProperty(
          requestsFor(operation, known),
          fc.constantFrom(...askers),
          fc.constantFrom(...callRoutes),
          async (sent, who, way) => {
            expect(await faultOf(way, who, sent)).toBeUndefined();
          },
        ),
        { seed, numRuns: requestsPerOperation, endOnFailure: true },
      );
    },
  );
});

describe('anything in any field', () => {
  it('is answered decently by every operation', async () => {
    await checkEachCase(
      [...operations],
      async (operation) =>
        expectWellFormedAnswers(
          api,
          await createExampleOrg(world, { visibility: 'org', slug: 'own' }),
          operation,
          {
            numRuns: 25,
          },
        ),
      { concurrency: 10 },
    );
  }, 600_000);
});
