/** Invariants that must hold at the end of any sequence. Each is a query on Postgres. */
import { type ProofBoard } from '../../board.ts';

interface Invariant {
  readonly name: string;
  /** The query returns one row for each violation. $1 is the organization, $2 the project. */
  readonly sql: string;
}

const invariants: readonly Invariant[] = [
  {
    name: 'each grant of a target has the epoch of the previous grant plus one, and the lease has the epoch of the last grant',
    sql: `select g.target_id from (
            select e.target_id, e.target_type, (v.data ->> 'epoch')::int as epoch,
              row_number() over (partition by e.target_id order by e.id, v.seq) as nth,
              count(*) over (partition by e.target_id) as grants
            from execution_events v join executions e on e.org_id = v.org_id and e.id = v.execution_id
            where e.org_id = $1 and e.project_id = $2 and v.kind = 'acquired') g
          join leases l on l.org_id = $1 and l.unit_type = g.target_type and l.unit_id = g.target_id
          where g.epoch <> g.nth or l.epoch <> g.grants`,
  },
  {
    name: 'the events of an execution are numbered without gaps',
    sql: `select e.id from executions e left join execution_events v on v.org_id = e.org_id and v.execution_id = e.id
          where e.org_id = $1 and e.project_id = $2
          group by e.org_id, e.id having count(v.seq) <> e.last_event_seq or coalesce(max(v.seq), 0) <> e.last_event_seq`,
  },
  {
    name: 'one execution of a target at most is not completed',
    sql: `select target_id from executions where org_id = $1 and project_id = $2 and state <> 'completed'
          group by target_id having count(*) > 1`,
  },
  {
    name: 'an execution is at work exactly while its lease is held',
    sql: `select e.id from executions e
          left join leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
          where e.org_id = $1 and e.project_id = $2 and e.state <> 'completed'
            and (e.state in ('leased', 'waiting_input')) is distinct from coalesce(l.state = 'held', false)`,
  },
  {
    name: 'a story and its group are never held by two',
    sql: `select s.story_id from delivery_group_stories s
          join leases a on a.org_id = s.org_id and a.unit_type = 'story' and a.unit_id = s.story_id and a.state = 'held'
          join leases b on b.org_id = s.org_id and b.unit_type = 'delivery_group' and b.unit_id = s.group_id
            and b.state = 'held'
          where s.org_id = $1 and s.project_id = $2 and s.open
            and (a.member_id, a.agent_id, a.run_id) is distinct from (b.member_id, b.agent_id, b.run_id)`,
  },
  {
    name: 'the locks of work that is held last as long as its lease',
    sql: `select k.id from locks k join executions e on e.org_id = k.org_id and e.id = k.execution_id
          join leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
          where k.org_id = $1 and k.project_id = $2 and e.state in ('leased', 'waiting_input') and l.state = 'held'
            and k.expires_at < l.expires_at`,
  },
  {
    name: 'whoever was removed holds nothing',
    sql: `select m.id from members m where m.org_id = $1 and m.status = 'removed' and $2::uuid is not null and (
            exists (select from leases l where l.org_id = m.org_id and l.member_id = m.id and l.state = 'held')
            or exists (select from locks k where k.org_id = m.org_id and k.member_id = m.id))`,
  },
  {
    name: 'no two holders have locks on the same path',
    sql: `select a.id from locks a join locks b on b.org_id = a.org_id and b.project_id = a.project_id and b.id > a.id
          where a.org_id = $1 and a.project_id = $2 and least(a.expires_at, b.expires_at) > clock_timestamp()
            and split_part(a.resources[1], '/', 1) = split_part(b.resources[1], '/', 1)
            and (a.member_id, a.agent_id, a.run_id) is distinct from (b.member_id, b.agent_id, b.run_id)`,
  },
  {
    name: 'the locks of work that ended are gone',
    sql: `select k.id from locks k join executions e on e.org_id = k.org_id and e.id = k.execution_id
          where k.org_id = $1 and k.project_id = $2 and e.state in ('available', 'submitted', 'completed')`,
  },
];

/** Returns the names of the invariants that do not hold on this board. */
export async function brokenInvariants({ team, projectId }: ProofBoard): Promise<string[]> {
  const { owner } = team.database;
  const broken = await Promise.all(
    invariants.map(async ({ name, sql }) => {
      const { rows } = await owner.query(sql, [team.orgId, projectId]);
      return rows.length > 0 ? [`not true: ${name}`] : [];
    }),
  );
  return broken.flat();
}
