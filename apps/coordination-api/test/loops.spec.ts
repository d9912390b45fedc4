/** Rules that hold for every operation. New operations are included automatically. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Operation, orgRank, pathOf, projectRank } from '@muster/contract';
import { operations } from '@muster/registry';
import { checkEachCase, type Person, type TokenSetUp } from '@muster/testing';
import {
  exampleCallerOf,
  endsCallerToken,
  type ExampleOrg,
  createExampleOrg,
  createExampleOrgProvider,
} from '@muster/examples';
import { pathsOf } from '../src/http/operationRoutes.ts';
import { type RawAnswer, useApi } from './api.ts';
import { refusesBadTokens, unknownToken } from './bad-tokens.ts';

const api = useApi();
const { world } = api;
const orgFor = createExampleOrgProvider(world);
const allOperations = [...operations.values()];
const operationCases = allOperations.map((operation) => [operation.name, operation] as const);

const example = (operation: Operation): unknown => operation.example;

const listAuditEntries = (
  orgId: string,
  operation: Operation,
): Promise<{ outcome: string; reason: string | null; request_id: string }[]> =>
  world.rows(
    'select outcome, reason, request_id from audit where org_id = $1 and operation = $2',
    orgId,
    operation.name,
  );

/** An organization for refused requests, which change nothing. */
let refusing: ExampleOrg;
beforeAll(async () => {
  refusing = await createExampleOrg(world);
});

/** The result of calling an operation with the example parameters of its contract. */
interface PerformedCall {
  readonly org: ExampleOrg;
  readonly answer: RawAnswer;
  /** The request's headers; for a write they include an Idempotency-Key. */
  readonly headers: Record<string, string>;
}

const performances = new Map<Operation, Promise<PerformedCall>>();

/** Calls an operation with its example parameters, once for all tests that use the result. */
function performOnce(operation: Operation): Promise<PerformedCall> {
  const perform = async (): Promise<PerformedCall> => {
    const org = await orgFor(operation);
    const headers: PerformedCall['headers'] =
      operation.effect === 'write' ? { 'idempotency-key': newId() } : {};
    const { token } = exampleCallerOf(operation, org).me;
    return { org, headers, answer: await api.call(token, operation.name, example(operation), headers) };
  };
  const performance = performances.get(operation) ?? perform();
  performances.set(operation, performance);
  return performance;
}

/** Returns the body without a secret. Secrets are never stored, so a replay has a new one. */
const shown = ({ secret }: Operation, { body }: RawAnswer) =>
  secret === null ? body : { ...body, [secret]: 'secret' };

/** Lists members whose role is one level too low for the operation, and the status that they get. */
function underprivilegedCallers(operation: Operation, org: ExampleOrg): { who: Person; status: number }[] {
  const { access } = operation;
  if (access.kind === 'org') {
    const people = [org.dan, org.chloe, org.ben].slice(0, orgRank(access.role) - 1);
    return people.map((who) => ({ who, status: 403 }));
  }
  if (access.kind === 'project') {
    const people = [org.looker, org.contributor].slice(0, projectRank(access.role) - 1);
    return [{ who: org.outsider, status: 404 }, ...people.map((who) => ({ who, status: 403 }))];
  }
  return [];
}

/** A generous timeout: each rule calls every operation, possibly on a busy machine. */
const minutes = 300_000;

describe('every operation', () => {
  it(
    'refuses an unknown token on each of its URL paths, and leaves no audit entry',
    async () => {
      await checkEachCase(operationCases, async (operation) => {
        for (const path of pathsOf(operation.name)) {
          const answer = await api.request(path, { token: unknownToken, body: example(operation) });
          expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([
            path,
            401,
            'Bearer',
          ]);
        }
        expect(await listAuditEntries(refusing.orgId, operation)).toEqual([]);
      });
    },
    minutes,
  );

  it('refuses each kind of bad token alike', async () => {
    const some = [
      ...['session.identity', 'stories.update', 'deliveryExecutions.renew'],
      ...['tokens.create', 'admin.platform.metrics'],
    ];
    const chosen = operationCases.filter(([name]) => some.includes(name));
    expect(chosen).toHaveLength(some.length);
    await checkEachCase(chosen, (operation) => refusesBadTokens(api, refusing, operation));
  });

  it('says that a token does not hold before anything else that is wrong', async () => {
    const org = await createExampleOrg(world);
    const read = { scopes: ['read'] } as const;
    const agents = { scopes: ['admin'], agent: 'Robo' } as const;
    const bound = { scopes: ['admin'], projectIds: [] } as const;
    const broken: [string, unknown, TokenSetUp][] = [
      ['/api/stories/get', { storyId: 1 }, read],
      ['/api/stories/get', '{', read],
      ['/api/query', { operation: 'stories.gte' }, read],
      ['/api/agents/catalog', { operation: 'gte' }, read],
      ['/api/billing/updateSeats', { seats: 9 }, read],
      ['/api/agents/list', {}, agents],
      ['/api/projects/create', { key: 'NEW', name: 'New' }, bound],
      ['/api/stories/gte', {}, read],
    ];
    for (const [path, body, setUp] of broken) {
      const ended = await world.token(org.orgId, org.ana.me.memberId, setUp);
      const send = () => api.request(path, { token: ended.me.token, body });
      expect([400, 403, 404]).toContain((await send()).status);
      await world.rows(
        `update tokens set revoked_at = now() where hash = sha256($1::bytea)`,
        Buffer.from(ended.me.token),
      );
      expect([path, (await send()).status]).toEqual([path, 401]);
    }
  });

  it(
    'refuses each role that is too low, and a scope that is too small',
    async () => {
      await checkEachCase(operationCases, async (operation) => {
        const org = refusing;
        for (const { who, status } of underprivilegedCallers(operation, org)) {
          const answer = await api.call(who.me.token, operation.name, example(operation));
          expect([who.me.name, answer.status]).toEqual([who.me.name, status]);
        }
        const smaller = {
          read: ['scim'],
          write: ['read', 'scim'],
          admin: ['read', 'write', 'scim'],
          platform: ['read', 'write', 'admin', 'scim'],
          scim: [],
        } as const;
        const held = smaller[operation.scope];
        if (held.length > 0) {
          const weak = await world.token(org.orgId, org.ana.me.memberId, { scopes: held });
          const answer = await api.call(weak.me.token, operation.name, example(operation));
          expect([answer.status, answer.body.details?.reason]).toEqual([403, 'scope']);
        }
        const entries = await listAuditEntries(org.orgId, operation);
        expect(entries.every((entry) => entry.outcome === 'denied')).toBe(true);
        if (!operation.auditsRefusal) expect(entries).toEqual([]);
        else expect(entries.length).toBeGreaterThan(0);
      });
    },
    minutes,
  );

  it(
    'accepts its own example, answers what it declares, and leaves an audit entry if it writes',
    async () => {
      await checkEachCase(operationCases, async (operation) => {
        const { org, answer } = await performOnce(operation);
        expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
        // Parsing drops undeclared fields, so the comparison finds them.
        expect(operation.result.parse(answer.body)).toEqual(answer.body);
        const entries = await listAuditEntries(org.orgId, operation);
        const requestId = answer.headers.get('x-request-id');
        expect(entries).toEqual(
          operation.effect === 'write' ? [{ outcome: 'allowed', reason: null, request_id: requestId }] : [],
        );
      });
    },
    minutes,
  );

  it(
    'says what happened only in events that it declares',
    async () => {
      await checkEachCase(operationCases, async (operation) => {
        const { org } = await performOnce(operation);
        const kinds = await world.rows<{ kind: string }>(
          'select kind from activity where org_id = $1',
          org.orgId,
        );
        const outbox = await world.rows<{ kind: string }>(
          `select payload ->> 'kind' as kind from outbox where org_id = $1 and topic = 'event'`,
          org.orgId,
        );
        const declared: readonly string[] = operation.emits;
        expect(kinds.filter(({ kind }) => !declared.includes(kind))).toEqual([]);
        expect(outbox.map(({ kind }) => kind).sort()).toEqual(kinds.map(({ kind }) => kind).sort());
      });
    },
    minutes,
  );

  it(
    'answers the same on every path and through the dispatcher',
    async () => {
      await checkEachCase(operationCases, async (operation) => {
        const { org, headers, answer: first } = await performOnce(operation);
        // The example uses the documented path.
        const others = pathsOf(operation.name).filter((path) => path !== pathOf(operation.name));
        const ways = [
          ...others.map((path) => ({ path, body: example(operation) })),
          { path: '/api/query', body: { operation: operation.name, params: example(operation) } },
        ];
        for (const { path, body } of ways) {
          // Send a write again with its key: the response is replayed only for the same operation and
          // parameters.
          const isReplayed = operation.effect === 'write' && !endsCallerToken(operation);
          const { token } = exampleCallerOf(operation, isReplayed ? org : await orgFor(operation)).me;
          const answer = await api.request(path, { token, body, ...(isReplayed && { headers }) });
          expect([path, answer.status]).toEqual([path, 200]);
          if (!isReplayed) continue;
          expect([path, answer.headers.get('idempotency-replayed')]).toEqual([path, 'true']);
          expect([path, shown(operation, answer)]).toEqual([path, shown(operation, first)]);
        }
      });
    },
    minutes,
  );

  it(
    'refuses a parameter that it does not know, and names it',
    async () => {
      await checkEachCase(operationCases, async (operation) => {
        const answer = await api.call(refusing.ana.me.token, operation.name, {
          ...(example(operation) as object),
          tpyo: 1,
        });
        expect([
          answer.status,
          answer.body.code,
          answer.body.details?.issues?.map((issue) => issue.path),
        ]).toEqual([400, 'bad_request', ['tpyo']]);
      });
    },
    minutes,
  );
});

describe('every write', () => {
  const writes = operationCases.filter(([, operation]) => operation.effect === 'write');

  it(
    'happens once for one Idempotency-Key',
    async () => {
      await checkEachCase(writes, async (operation) => {
        const { org, headers, answer: first } = await performOnce(operation);
        const { token } = exampleCallerOf(operation, org).me;
        const second = await api.call(token, operation.name, example(operation), headers);
        if (endsCallerToken(operation)) {
          expect([first.status, second.status]).toEqual([200, 401]);
          expect(await listAuditEntries(org.orgId, operation)).toHaveLength(1);
          return;
        }
        expect([first.status, second.status, shown(operation, second)]).toEqual([
          200,
          200,
          shown(operation, first),
        ]);
        expect([
          first.headers.get('idempotency-replayed'),
          second.headers.get('idempotency-replayed'),
        ]).toEqual([null, 'true']);
        expect(await listAuditEntries(org.orgId, operation)).toHaveLength(1);
      });
    },
    minutes,
  );

  /** An organization in which everything is archived, so that writes are refused. */
  let archived: ExampleOrg;
  const archive = async (): Promise<ExampleOrg> => {
    const org = await createExampleOrg(world);
    await world.rows(`update projects set archived_at = now() where org_id = $1`, org.orgId);
    return org;
  };
  beforeAll(async () => {
    archived = await archive();
  });

  it(
    'into an archived project is refused where the contract says so',
    async () => {
      await checkEachCase(writes, async (operation) => {
        if (operation.access.kind !== 'project') return;
        const declared: readonly string[] = operation.refusals;
        const isRefused = declared.includes('archived');
        const { ana } = isRefused ? archived : await archive();
        const answer = await api.call(ana.me.token, operation.name, example(operation));
        if (!isRefused) expect(answer.status).toBe(200);
        else expect([answer.status, answer.body.details?.reason]).toEqual([422, 'archived']);
      });
    },
    minutes,
  );
});
