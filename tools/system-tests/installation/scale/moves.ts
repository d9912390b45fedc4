/**
 * Tests rules that hold when an organization moves while its people work. The specs run them on different
 * servers.
 */
import { createToken } from '@muster/organizations';
import { connect } from '@muster/client';
import { type MoveResult, moveOrganization, type MoveStep, type Node } from '@muster/placement';
import { waitUntil } from '@muster/testing';
import { type Founded, type ScaleServers, type Jest, minutes, nothing } from './ground.ts';
import { itSurvivesInterruptions } from './interrupted.ts';
import { nodeName } from './servers.ts';
import { startWriter, type WrittenIds } from './writers.ts';

const writers = 8;
const shortRestMillis = 5;
/**
 * The delay between writes. Without it, writers on a machine of two cores add rows as fast as they are
 * copied, and the move never catches up.
 */
const longRestMillis = 50;

export function itMovesOrganizations(jest: Jest, ground: ScaleServers): void {
  itMovesUnderWriters(jest, ground);
  itLetsWorkGoOn(jest, ground);
  itSurvivesInterruptions(jest, ground);
}

async function moveUnderWriters(
  ground: ScaleServers,
  { orgId, token, projectId }: Founded,
  to: Node,
): Promise<{ readonly moved: MoveResult; readonly all: WrittenIds[]; readonly longestGapMillis: number }> {
  let rest = shortRestMillis;
  const writing = Array.from({ length: writers }, (_, who) =>
    startWriter(connect({ baseUrl: ground.apiUrl(who), token }), projectId, () => rest),
  );
  const allGoOn = (more: number): Promise<void> => {
    const before = writing.map((writer) => writer.count());
    return waitUntil(() => writing.every((writer, who) => writer.count() >= (before[who] ?? 0) + more));
  };
  const after = async (step: MoveStep): Promise<void> => {
    if (step === 'copied' || step === 'switched') rest = longRestMillis;
    if (step !== 'caught up') return;
    // The organization is closed while all writers write as fast as they can.
    rest = shortRestMillis;
    await allGoOn(2);
  };
  await allGoOn(4);
  const moved = await moveOrganization(ground.nodes(), { orgId, to }, { afterStep: after });
  if (moved === undefined) throw new Error('it was there already');
  await allGoOn(4);
  const all = await Promise.all(writing.map((writer) => writer.stop()));
  return { moved, all, longestGapMillis: Math.max(...all.map((one) => one.longestGapMillis)) };
}

function itMovesUnderWriters({ beforeAll, describe, expect, it }: Jest, ground: ScaleServers): void {
  const { home, east, foundOrg: found, rowsAt, countAt, leftAt } = ground;
  describe('an organization that moves while eight people write', () => {
    let acme: Founded;
    let other: Founded;
    const written: WrittenIds[] = [];
    const expectAll = async (at: Node): Promise<void> => {
      for (const table of ['stories', 'comments', 'executions'] as const) {
        const rows = await rowsAt<{ id: string }>(
          at,
          `select id from ${table} where org_id = $1 order by id`,
          acme.orgId,
        );
        const ids = written.flatMap((one) => one[table]).sort();
        expect({ table, ids: rows.map(({ id }) => id) }).toEqual({ table, ids });
      }
    };

    beforeAll(async () => {
      acme = await found('acme', 'home');
      other = await found('other', 'home');
    }, minutes);

    it(
      'has every write that was accepted once, and refused none for good',
      async () => {
        const neighbour = startWriter(other.ana, other.projectId, () => shortRestMillis);
        const { moved, all, longestGapMillis } = await moveUnderWriters(ground, acme, east());
        written.push(...all);
        await neighbour.stop();
        process.stderr.write(
          `moved ${moved.movedRowCount} rows: closed for ${moved.closedMillis} ms, the longest pause of a writer ${Math.round(longestGapMillis)} ms\n`,
        );
        await expectAll(east());
      },
      3 * minutes,
    );

    it('left nothing at the server that it was at', async () => {
      expect(await countAt(home(), acme.orgId)).toBe(0);
      expect(await leftAt(home())).toEqual(nothing);
      expect(await rowsAt(home(), 'select node, moving_to, left_from from app.org_places')).toEqual([
        { node: nodeName, moving_to: null, left_from: null },
      ]);
    });

    it('has streams without a gap', async () => {
      const [numbers] = await rowsAt<Record<string, number>>(
        east(),
        `select s.activity, s.audit,
           (select count(*)::int from activity a where a.org_id = s.org_id) as activities, (select max(seq)::int from activity a where a.org_id = s.org_id) as last_activity,
           (select count(*)::int from audit a where a.org_id = s.org_id) as audits, (select max(seq)::int from audit a where a.org_id = s.org_id) as last_audit
         from streams s where s.org_id = $1`,
        acme.orgId,
      );
      const { activity, audit } = numbers ?? {};
      expect(numbers).toEqual({
        ...{ activity, activities: activity, last_activity: activity },
        ...{ audit, audits: audit, last_audit: audit },
      });
    });

    it(
      'has all jobs done that its writes asked for',
      async () => {
        const undone = () =>
          rowsAt<{ n: number }>(
            east(),
            'select count(*)::int as n from outbox where org_id = $1 and done_at is null',
            acme.orgId,
          );
        await waitUntil(async () => (await undone())[0]?.n === 0);
      },
      minutes,
    );

    it(
      'moves back home in the same way',
      async () => {
        const { all } = await moveUnderWriters(ground, acme, home());
        written.push(...all);
        await expectAll(home());
        expect(await countAt(east(), acme.orgId)).toBe(0);
        expect(await leftAt(east())).toEqual(nothing);
        expect(await rowsAt(home(), 'select from app.org_places')).toEqual([]);
      },
      3 * minutes,
    );
  });
}

function itLetsWorkGoOn({ describe, expect, it }: Jest, ground: ScaleServers): void {
  const { home, east, foundOrg: found } = ground;
  describe('who works in an organization that moves', () => {
    it(
      'goes on holding work, is answered by the same key, and the next holder has the next epoch',
      async () => {
        const beta = await found('beta', 'home');
        const { story } = await beta.ana.stories.create({ projectId: beta.projectId, title: 'Build it' });
        const held = await beta.ana.deliveryExecutions.acquire({ targetType: 'story', targetId: story.id });
        const create = () =>
          beta.ana.stories.create(
            { projectId: beta.projectId, title: 'Only once' },
            { idempotencyKey: 'once' },
          );
        const first = await create();
        const { cursor } = await beta.ana.events.list({ after: 'latest' });
        await moveOrganization(ground.nodes(), { orgId: beta.orgId, to: east() });

        const { executionId, leaseToken } = { executionId: held.execution.id, leaseToken: held.leaseToken };
        await beta.ana.deliveryExecutions.renew({ executionId, leaseToken });
        expect(await create()).toEqual(first);
        await beta.ana.deliveryExecutions.release({ executionId, leaseToken });
        const { token } = await createToken(home().pool, {
          ...{ org: 'beta', member: 'ana@beta.example', agent: 'Robo', name: 'robo', scopes: ['write'] },
        });
        const robo = connect({ baseUrl: ground.apiUrl(1), token });
        const next = await robo.deliveryExecutions.acquire({ targetType: 'story', targetId: story.id });
        expect(next.execution.lease?.epoch).toBe((held.execution.lease?.epoch ?? 0) + 1);
        const { items } = await beta.ana.events.list({ after: cursor });
        expect(items.map(({ kind }) => kind)).toContain('execution.released');
      },
      minutes,
    );
  });
}
