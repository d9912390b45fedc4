/**
 * Sends generated requests to every operation: by its path, through the dispatcher and as an MCP tool, with
 * several kinds of token. Requests that once found a bug are sent first.
 */
import { pathOf } from '@muster/contract';
import { operations } from '@muster/registry';
import {
  findHttpFault,
  findMcpFault,
  knownFailures,
  type KnownValues,
  collectKnownValues,
  requestsFor,
  type FuzzCall,
} from '@muster/examples/fuzz';
import fc from 'fast-check';
import { metricOf, openCallers } from '../callers.ts';
import { type GuardRemoval, without } from '../guards.ts';
import { type TestSite, startTestSite } from '../house.ts';
import { foundOrganization } from '../organization.ts';
import { property, type Findings, type RunSetup } from '../property.ts';

interface Extent {
  /**
   * The number of rounds. Each has its own organization, because some requests delete records that others
   * need.
   */
  readonly rounds: number;
  /** The number of requests to each operation in a round. */
  readonly requests: number;
  /** The surfaces on which the requests that once found a bug are sent. */
  readonly waysOfFound: readonly Way[];
}

const ways = ['path', 'dispatcher', 'tool'] as const;
type Way = (typeof ways)[number];

const atOnce = 4;
const maxReported = 20;

/**
 * Creates the callers' tokens. The owner's token appears most often, because other callers are refused early.
 */
async function foundTeam({ database }: TestSite): Promise<readonly string[]> {
  const { people, enter } = await foundOrganization(database, 2, { viewers: [1] });
  const [{ token: admin, email: ana }, dan] = people;
  const others = [
    await enter(ana, { scopes: ['read'] }),
    await enter(ana, { scopes: ['write'], agent: 'Robo' }),
    await enter(dan?.email ?? '', { scopes: ['write'] }),
  ];
  const madeUp = 'must_test_00000000000000000000000000000000000000';
  return [admin, admin, admin, admin, ...others.map(({ token }) => token), madeUp];
}

async function run(setting: RunSetup, extent: Extent, removals: readonly GuardRemoval[]): Promise<Findings> {
  const house = await startTestSite(setting.services, { api: removals });
  const { api, gateway } = house;
  const callers = openCallers(setting.services);
  const violations: string[] = [];
  const counts = { requests: 0, answered: 0 };

  /** Sends a request and records its faults. Returns the text of a successful answer, or an empty string. */
  const send = async (way: Way, token: string, sent: FuzzCall): Promise<string> => {
    const { operation, params } = sent;
    const name = operation.replaceAll('.', '_');
    const tool = `{"name":"${name}","arguments":${params}}`;
    const [url, body] = {
      path: [`${api.url}${pathOf(operation)}`, params] as const,
      dispatcher: [`${api.url}/api/query`, `{"operation":"${operation}","params":${params}}`] as const,
      tool: [
        `${gateway.url}/api/mcp?view=full`,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${tool}}`,
      ] as const,
    }[way];
    const { status, text } = await callers.post(url, token, body);
    counts.requests += 1;
    let fault: string | undefined;
    try {
      const answer: unknown = JSON.parse(text);
      fault = (way === 'tool' ? findMcpFault : findHttpFault)(operations, sent, status, answer);
    } catch {
      fault = `was answered with no JSON: ${text.slice(0, 200)}`;
    }
    if (fault !== undefined)
      violations.push(`${operation} (${way}) ${fault}\n${JSON.stringify(sent)}\n${text.slice(0, 300)}`);
    if (status !== 200) return '';
    counts.answered += 1;
    return text;
  };

  const ready = async (token: string, known: KnownValues): Promise<void> => {
    for (const [operation, params] of [
      ['projects.create', { key: 'WEB', name: 'Web' }],
      ['projects.create', { key: 'DOCS', name: 'Docs' }],
      ['stories.create', { projectId: 'WEB', title: 'One', status: 'ready' }],
      ['stories.create', { projectId: 'WEB', title: 'Two', status: 'ready' }],
      ['epics.create', { projectId: 'WEB', title: 'Epic' }],
      ['comments.create', { storyId: 'WEB-1', body: 'Comment' }],
      ['comments.create', { storyId: 'WEB-1', body: 'Another' }],
    ] as const)
      collectKnownValues(known, await send('path', token, { operation, params: JSON.stringify(params) }));
    for (const { name, example, params } of operations.values()) {
      if (!('cursor' in params.shape)) continue;
      const first = JSON.stringify({ ...example, limit: 1 });
      collectKnownValues(known, await send('path', token, { operation: name, params: first }));
    }
  };

  for (let round = 0; round < extent.rounds; round += 1) {
    const askers = await foundTeam(house);
    const [owner = ''] = askers;
    const known: KnownValues = { ids: [], cursors: [] };
    await ready(owner, known);
    for (const sent of round === 0 ? knownFailures : [])
      for (const way of extent.waysOfFound) await send(way, owner, sent);
    const course = [...operations.values()].flatMap((operation, index) =>
      fc.sample(
        fc.tuple(requestsFor(operation, known), fc.constantFrom(...askers), fc.constantFrom(...ways)),
        { seed: setting.seed + round * 1_000 + index, numRuns: extent.requests },
      ),
    );
    const next = course.values();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (const [sent, token, way] of next) collectKnownValues(known, await send(way, token, sent));
      }),
    );
    setting.note(`${counts.requests} requests, ${counts.answered} of them answered`);
  }

  for (const [name, { isAlive }] of Object.entries({ api, gateway }))
    if (!isAlive()) violations.push(`the ${name} has ended`);
  const holes = await metricOf(api, 'muster_validation_holes_total');
  if (holes !== 0) violations.push(`Postgres refused ${holes} values`);
  if (counts.answered === 0) violations.push('nothing was answered');
  return {
    violations: violations.slice(0, maxReported),
    figures: { requests: counts.requests, 'of them answered': counts.answered, known: knownFailures.length },
  };
}

// The short form sends known requests only as MCP tools. The spec fuzzing.long.spec.ts of coordination-api
// tests the other surfaces.
const short: Extent = { rounds: 1, requests: 1, waysOfFound: ['tool'] };

export const fuzzing = property<Extent>({
  name: 'fuzzing',
  promise:
    'Whatever is sent to an operation, by its path, through the dispatcher or as a tool: the answer is within the contract, no 5xx, and Postgres is never asked to store what it refuses.',
  short,
  long: { rounds: 20, requests: 8, waysOfFound: ways },
  run,
  controls: [
    {
      name: 'texts in a body are not checked for NUL',
      leftTo: 'nx long',
      extent: { ...short, waysOfFound: ['path'] },
      without: [without('texts are clean')],
    },
  ],
});
