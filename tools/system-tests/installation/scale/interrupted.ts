/**
 * Tests moves of an organization to another server: the rules of a move must hold whatever work is in progress
 * and at whatever point the move is interrupted.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { moveOrganization } from '@muster/placement';
import { waitUntil } from '@muster/testing';
import { type ScaleServers, type Jest, minutes, nothing } from './ground.ts';

type Specs = Pick<Jest, 'describe' | 'expect' | 'it'>;

export function itSurvivesInterruptions(jest: Specs, ground: ScaleServers): void {
  itWaitsForTransactions(jest, ground);
  itOpensTheNewServerLast(jest, ground);
  itStaysWhereItIsCutOff(jest, ground);
}

function itWaitsForTransactions(
  { describe, expect, it }: Specs,
  { nodes, home, east, foundOrg: found, rowsAt, countAt }: ScaleServers,
): void {
  describe('a transaction that is under way', () => {
    const insert = (orgId: string, name: string) =>
      [`insert into teams (org_id, id, name) values ($1, gen_random_uuid(), $2)`, [orgId, name]] as const;
    const teams = (orgId: string) =>
      rowsAt<{ name: string }>(east(), 'select name from teams where org_id = $1', orgId);

    it(
      'and wrote before the organization is closed is waited for, and its rows come along',
      async () => {
        const { orgId } = await found('early', 'home');
        const client = await home().pool.connect();
        let ended: Promise<unknown> = Promise.resolve();
        const afterStep = async (step: string): Promise<void> => {
          if (step !== 'caught up') return;
          await client.query('begin');
          await client.query('select app.enter_as_system($1)', [orgId]);
          const [text, values] = insert(orgId, 'Early');
          await client.query(text, [...values]);
          ended = pause(100).then(() => client.query('commit'));
        };
        await moveOrganization(nodes(), { orgId, to: east() }, { afterStep });
        await ended;
        client.release();
        expect(await teams(orgId)).toEqual([{ name: 'Early' }]);
      },
      minutes,
    );

    it(
      'and writes after that is refused, and nothing of it stays',
      async () => {
        const { orgId } = await found('late', 'home');
        const client = await home().pool.connect();
        let refused: Promise<unknown> = Promise.resolve('not asked');
        const afterStep = async (step: string): Promise<void> => {
          if (step === 'caught up') {
            // The transaction waits for as long as the organization is closed.
            await client.query('begin');
            await client.query('set local lock_timeout = 0');
            await client.query('select app.enter_as_system($1)', [orgId]);
          }
          if (step !== 'closed') return;
          const [text, values] = insert(orgId, 'Late');
          refused = client.query(text, [...values]).then(
            () => 'written',
            (error: unknown) => (error as { code?: string }).code,
          );
        };
        // The moved rows are removed from the old server once no transaction holds them.
        const moving = moveOrganization(nodes(), { orgId, to: east() }, { afterStep });
        await waitUntil(async () => (await Promise.race([refused, pause(1, 'not yet')])) === 'MU421');
        await client.query('rollback');
        await moving;
        client.release();
        expect(await teams(orgId)).toEqual([]);
        expect(await countAt(home(), orgId)).toBe(0);
      },
      minutes,
    );

    it(
      'and is about all organizations leaves the rows of a closed one alone, and none waits',
      async () => {
        const [leaving, staying] = [await found('leaving', 'home'), await found('staying', 'home')];
        let reached: unknown;
        const afterStep = async (step: string): Promise<void> => {
          if (step !== 'closed') return;
          const client = await home().pool.connect();
          await client.query('begin');
          await client.query('set local role muster_worker');
          const { rows } = await client.query<{ org_id: string }>(
            'update outbox set dispatch_after = dispatch_after where org_id = any ($1) returning org_id',
            [[leaving.orgId, staying.orgId]],
          );
          await client.query('rollback');
          client.release();
          reached = [...new Set(rows.map(({ org_id }) => org_id))];
        };
        await moveOrganization(nodes(), { orgId: leaving.orgId, to: east() }, { afterStep });
        expect(reached).toEqual([staying.orgId]);
      },
      minutes,
    );
  });
}

function itOpensTheNewServerLast(
  { describe, expect, it }: Specs,
  { nodes, home, east, foundOrg: found, rowsAt, leftAt }: ScaleServers,
): void {
  describe('the new server', () => {
    it(
      'is not open, and its worker leaves what it has alone, until home has said for good that the organization is there',
      async () => {
        const { orgId } = await found('kappa', 'home');
        const holder = await home().pool.connect();
        const afterStep = async (step: string): Promise<void> => {
          if (step !== 'closed') return;
          await holder.query('begin');
          await holder.query('select from app.org_places where org_id = $1 for update', [orgId]);
        };
        const moving = moveOrganization(nodes(), { orgId, to: east() }, { afterStep });
        const saying = () =>
          rowsAt(
            home(),
            `select from pg_stat_activity where application_name = 'muster-move' and wait_event_type = 'Lock'`,
          );
        await waitUntil(async () => (await saying()).length > 0);
        const seen = await Promise.all([
          rowsAt(east(), 'select from orgs where id = $1', orgId),
          rowsAt(east(), 'select from rights_epochs where org_id = $1', orgId),
          rowsAt(east(), 'select from app.closed_orgs where org_id = $1', orgId),
        ]);
        await holder.query('rollback');
        holder.release();
        await moving;
        expect(seen.map(({ length }) => length)).toEqual([1, 0, 1]);
        expect(await rowsAt(east(), 'select from rights_epochs where org_id = $1', orgId)).toHaveLength(1);
        expect(await leftAt(east())).toEqual(nothing);
      },
      minutes,
    );

    it(
      'gets names that rows gave each other meanwhile, however many those are',
      async () => {
        const { orgId } = await found('lambda', 'home');
        const many = 1_200;
        await rowsAt(
          home(),
          `insert into teams (org_id, id, name) select $1, gen_random_uuid(), 'Team ' || n from generate_series(1, ${many}) n`,
          orgId,
        );
        const afterStep = async (step: string): Promise<void> => {
          if (step !== 'copied') return;
          await rowsAt(home(), `update teams set name = 'Was ' || name where org_id = $1`, orgId);
          await rowsAt(
            home(),
            `update teams set name = 'Team ' || ((substr(name, 10)::int * 7) % ${many + 1}) where org_id = $1`,
            orgId,
          );
        };
        const names = (at: ReturnType<typeof home>) =>
          rowsAt(at, 'select id, name from teams where org_id = $1 order by id', orgId);
        let before: unknown[] = [];
        await moveOrganization(
          nodes(),
          { orgId, to: east() },
          {
            afterStep: async (step) => {
              await afterStep(step);
              if (step === 'caught up') before = await names(home());
            },
          },
        );
        expect(before).toHaveLength(many);
        expect(await names(east())).toEqual(before);
      },
      minutes,
    );
  });
}

function itStaysWhereItIsCutOff(
  { describe, expect, it }: Specs,
  { nodes, home, east, foundOrg: found, rowsAt, countAt, leftAt }: ScaleServers,
): void {
  describe('a move that is cut off', () => {
    const crash = new Error('cut off by the spec');
    it.each(['following', 'copied', 'caught up', 'closed'] as const)(
      'after %s leaves the organization where it was, and can be made again',
      async (step) => {
        const gamma = await found(`gamma-${step.replace(' ', '-')}`, 'home');
        const cut = moveOrganization(
          nodes(),
          { orgId: gamma.orgId, to: east() },
          { afterStep: async (done) => (done === step ? Promise.reject(crash) : undefined) },
        );
        await expect(cut).rejects.toBe(crash);
        await gamma.ana.stories.create({ projectId: gamma.projectId, title: 'Still here' });
        expect(await countAt(east(), gamma.orgId)).toBe(0);
        expect(await leftAt(home())).toEqual(nothing);
        await moveOrganization(nodes(), { orgId: gamma.orgId, to: east() });
        const { items } = await gamma.ana.stories.list({ projectId: 'WEB' });
        expect(items.map(({ title }) => title)).toEqual(['Still here']);
      },
      minutes,
    );

    it(
      'because home refuses the switch leaves the organization open where it was',
      async () => {
        const { orgId, projectId, ana } = await found('zeta', 'home');
        const other = await found('eta', 'east');
        const claim = `insert into app.claimed_slugs (slug, org_id) values ('zeta', $1)`;
        const afterStep = async (step: string): Promise<void> => {
          if (step === 'closed') await rowsAt(home(), claim, other.orgId);
        };
        await expect(moveOrganization(nodes(), { orgId, to: east() }, { afterStep })).rejects.toMatchObject({
          code: '23505',
        });
        await ana.stories.create({ projectId, title: 'Still here' });
        expect(await leftAt(home())).toEqual(nothing);
        expect(await countAt(east(), orgId)).toBe(0);
      },
      minutes,
    );

    it(
      'because home is lost stops at once, and leaves the organization open where it was',
      async () => {
        const { orgId, projectId, ana } = await found('theta', 'home');
        let isStopped = false;
        const movers = () =>
          rowsAt(east(), `select from pg_stat_activity where application_name = 'muster-move'`);
        const afterStep = async (step: string): Promise<void> => {
          if (step !== 'copied') return;
          await rowsAt(
            home(),
            `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
               and (classid::bigint << 32) | objid::bigint = hashtextextended('moves', 0)`,
          );
          await waitUntil(async () => (await movers()).length === 0);
          isStopped = true;
        };
        await expect(moveOrganization(nodes(), { orgId, to: east() }, { afterStep })).rejects.toThrow();
        expect(isStopped).toBe(true);
        await ana.stories.create({ projectId, title: 'Still here' });
        expect((await moveOrganization(nodes(), { orgId, to: east() }))?.to).toBe(east().name);
        const { items } = await ana.stories.list({ projectId: 'WEB' });
        expect(items.map(({ title }) => title)).toEqual(['Still here']);
      },
      minutes,
    );

    it(
      'keeps the next one out as long as it is at work at one of the servers',
      async () => {
        const { orgId } = await found('iota', 'home');
        const client = await east().pool.connect();
        await client.query(`select pg_advisory_lock(hashtextextended('moves ' || $1, 0))`, [orgId]);
        await expect(moveOrganization(nodes(), { orgId, to: east() })).rejects.toThrow(
          `an earlier move of the organization is still running on ${east().name}`,
        );
        client.release(true);
        expect(await countAt(east(), orgId)).toBe(0);
      },
      minutes,
    );

    it(
      'after the switch is at the new server, and the next one removes what was left',
      async () => {
        const delta = await found('delta', 'home');
        const cut = moveOrganization(
          nodes(),
          { orgId: delta.orgId, to: east() },
          { afterStep: async (done) => (done === 'switched' ? Promise.reject(crash) : undefined) },
        );
        await expect(cut).rejects.toBe(crash);
        await delta.ana.stories.create({ projectId: delta.projectId, title: 'Over there' });
        expect(await countAt(home(), delta.orgId)).toBeGreaterThan(0);
        expect(await moveOrganization(nodes(), { orgId: delta.orgId, to: east() })).toBeUndefined();
        expect(await countAt(home(), delta.orgId)).toBe(0);
        expect(await leftAt(home())).toEqual(nothing);
      },
      minutes,
    );
  });
}
