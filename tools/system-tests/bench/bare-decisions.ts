/**
 * The decisions that the most complete bare server of writes makes around its statements: target check, reads
 * and row locks, validation, and the values to write. It is written by hand and does no more than the product
 * promises.
 */
import { hash, randomBytes } from 'node:crypto';
import { type Statement } from '@muster/driver';
import { bareStatements, createStory, trailOf } from './bare-statements.ts';
import { checkpointed, execution, executionColumns, renewal } from './bare-leases.ts';

/** The fields that the bodies of writes have. */
export interface Body {
  readonly orgId: string;
  readonly actor: { readonly memberId: string };
  readonly projectId: string;
  readonly storyId: string;
  readonly columnId: string;
  readonly targetId: string;
  readonly executionId: string;
  readonly leaseToken: string;
}

type Row = Readonly<Record<string, unknown>>;
/** The result rows of each read. */
export type Looked = readonly (readonly Row[])[];

/**
 * A SQL statement, and the names of its parameter values. The values are in the request body or in the rows
 * of the preceding reads.
 */
interface Write {
  readonly text: string;
  readonly values: readonly string[];
}

export interface BareDecision {
  /**
   * The record that the authorization check must find. `isBarred` is true if an archived project refuses the
   * write.
   */
  readonly target: (body: Body) => readonly [kind: string, id: string];
  readonly isBarred: boolean;
  readonly looks: (body: Body) => readonly Statement[];
  /** Returns the statement and the values that are not in the body. Throws if the write is not allowed. */
  readonly decide: (
    body: Body,
    looked: Looked,
  ) => { readonly write: Write; readonly known: Row; readonly answer?: Row };
}

const ofStory = ({ storyId }: Body) => ['story', storyId] as const;
const ofExecution = ({ executionId }: Body) => ['execution', executionId] as const;

/** Returns the first row of the read at this index. Throws if there is none. */
function first(looked: Looked, place: number): Row {
  const row = looked[place]?.[0];
  if (row === undefined) throw new Error(`nothing was found by look ${place}`);
  return row;
}

const lockStory = ({ orgId, storyId }: Body): Statement => ({
  sql: `select s.id, s.version, s.column_id, s.title, p.key from stories s
    join projects p on p.org_id = s.org_id and p.id = s.project_id
    where s.org_id = $1 and s.id = $2 for no key update of s`,
  parameters: [orgId, storyId],
});

const firstColumn = `(select f.id from board_columns f where f.org_id = $1 and f.project_id = $2 and f.status = 'backlog'
  and f.archived_at is null order by f.position, f.id limit 1)`;

const createNumbered: Write = {
  text: createStory('$9::int'),
  values: [...bareStatements['/stories/create'].values, 'number'],
};

/** Locks the lease and the execution that the holder names, in the product's lock order. */
const lockHeld = ({ orgId, executionId }: Body): readonly Statement[] => [
  {
    sql: `select l.unit_id, l.state, l.epoch, l.token_hash, l.holder, l.member_id, l.agent_id, l.run_id, l.ttl_seconds, l.expires_at
      from leases l where l.org_id = $1 and (l.unit_type, l.unit_id) =
        (select e.target_type, e.target_id from executions e where e.org_id = $1 and e.id = $2) for no key update`,
    parameters: [orgId, executionId],
  },
  {
    sql: `select ${executionColumns}, x.epoch, x.stop_requested, x.told_seq, clock_timestamp() as now
      from (select * from executions e where e.org_id = $1 and e.id = $2 for no key update) x`,
    parameters: [orgId, executionId],
  },
];

/**
 * Checks that the caller holds the newest grant, and returns the values that fence the lease's update. The
 * benchmark creates no messages for a holder.
 */
function holder({ actor, leaseToken }: Body, looked: Looked): { readonly found: Row; readonly known: Row } {
  const [lease, found] = [first(looked, 0), first(looked, 1)];
  const tokenHash = hash('sha256', leaseToken, 'buffer');
  const isHeld =
    lease['state'] === 'held' &&
    lease['epoch'] === found['epoch'] &&
    (lease['token_hash'] as Buffer).equals(tokenHash) &&
    lease['member_id'] === actor.memberId &&
    lease['agent_id'] === null &&
    (found['state'] === 'leased' || found['state'] === 'waiting_input');
  if (!isHeld) throw new Error('stale lease');
  if (found['told_seq'] !== found['lastEventSeq'] || found['stop_requested'] !== null)
    throw new Error('there is something to tell, which the bench never leaves');
  return { found, known: { unitId: lease['unit_id'], epoch: lease['epoch'], tokenHash } };
}

/**
 * Updates the lease of the story $4 if the grant is still the newest. The epoch and the token's hash are at
 * the given parameters.
 */
const ownLease = (changes: string, [epoch, tokenHash]: readonly [number, number] = [5, 6]): string => `
  l as (update public.leases l set ${changes} where l.org_id = $1::uuid and l.unit_type = 'story' and l.unit_id = $4::uuid
      and l.state = 'held' and l.epoch = $${epoch}::int and l.token_hash = $${tokenHash}::bytea
    returning l.unit_id, l.epoch, l.expires_at, l.ttl_seconds)`;

const story = (unit: number): string => `
  s as (select s.*, p.key from public.stories s join public.projects p on p.org_id = s.org_id and p.id = s.project_id
    where s.org_id = $1::uuid and s.id = $${unit}::uuid)`;

const keptLocks = (executionId: number): string => `
  k as (update public.locks k set expires_at = l.expires_at from l
    where k.org_id = $1::uuid and k.execution_id = $${executionId}::uuid and k.expires_at < l.expires_at)`;
const freedLocks = `k as (delete from public.locks k where k.org_id = $1::uuid and k.execution_id = $3::uuid)`;

const noHolder = `state = 'free', token_hash = null, holder = null, member_id = null, agent_id = null, run_id = null,
  expires_at = null`;

/** Returns the SQL of the trail for a story whose key is computed from the columns of the CTE `s`. */
const trail = (kind: string, operation: string, target: string): string =>
  trailOf(kind, operation, { key: `s.key || '-' || s.number`, target });

const byHolder = ['orgId', 'actor', 'executionId', 'unitId'] as const;
const grantFields = ['epoch', 'tokenHash'] as const;

/** An audit entry of a call that creates no event. */
const auditOf = (call: string): string => `
  u as (insert into bare.audit (org_id, seq, id, actor, member_id, operation, target, outcome, ip, request_id)
    select $1::uuid, nextval('bare.audit_seq'), uuidv7(), $2::jsonb, ($2::jsonb ->> 'memberId')::uuid,
      'deliveryExecutions.${call}', $3, 'allowed', '127.0.0.1', 'bare' from l)`;

const renew: Write = {
  text: `with ${ownLease(renewal)}, ${keptLocks(3)},
    ${auditOf('renew')}
    select l.epoch, l.expires_at as "expiresAt" from l`,
  values: [...byHolder, ...grantFields],
};

const checkpoint: Write = {
  text: `with ${ownLease(renewal, [8, 9])}, ${keptLocks(3)}, ${story(4)}, ${checkpointed},
    ${trail('execution.checkpointed', 'deliveryExecutions.checkpoint', '$3')}
    select ${executionColumns}, l.epoch, l.expires_at as "expiresAt" from x, l`,
  values: [...byHolder, 'summary', 'nextSteps', 'filesTouched', ...grantFields],
};

const release: Write = {
  text: `with ${ownLease(`${noHolder}, ended_token_hash = l.token_hash, ended_by = 'release'`)}, ${freedLocks}, ${story(4)},
    ${execution(`state = 'available', waiting_for = null`, 'released')},
    ${trail('execution.released', 'deliveryExecutions.release', '$3')}
    select ${executionColumns}, l.epoch from x, l`,
  values: [...byHolder, ...grantFields],
};

/** The two units that exclude each other: the story, and the open delivery group that contains it. */
const units = `(select 'story' as type, s.id, s.project_id from stories s where s.org_id = $1 and s.id = $2
  union all select 'delivery_group', m.group_id, m.project_id from delivery_group_stories m
    where m.org_id = $1 and m.story_id = $2 and m.open)`;
const unitIds = `any (array(select u.id from ${units} u))`;

const takenUp = `state = 'leased', epoch = $5::int, attempt = e.attempt + 1, run_id = null, device_id = null, offer = null,
  waiting_for = null, stop_requested = null, outcome = null, failure = null, spec_version = s.spec_version,
  last_event_seq = e.last_event_seq + 1, told_seq = e.last_event_seq + 1, updated_at = clock_timestamp(), version = e.version + 1`;

const granted = `l as (update public.leases l set state = 'held', token_hash = $6::bytea, epoch = $5::int, holder = $2::jsonb,
    member_id = ($2::jsonb ->> 'memberId')::uuid, agent_id = null, run_id = null, ttl_seconds = $8::int,
    granted_at = case l.epoch when $5::int then l.granted_at else clock_timestamp() end,
    expires_at = clock_timestamp() + make_interval(secs => $8::int), expiry_noted = false
  where l.org_id = $1::uuid and l.unit_type = 'story' and l.unit_id = $3::uuid and l.epoch in ($5::int - 1, $5::int) returning *)`;
const toAcquire = ['orgId', 'actor', 'targetId', 'known', 'epoch', 'tokenHash', 'leaseToken', 'ttlSeconds'];

const acquire = (x: string): Write => ({
  text: `with ${story(3)},
      ${granted},
      ${x},
      v as (insert into bare.execution_events (org_id, execution_id, seq, kind, actor, data)
        select $1::uuid, x.id, x.last_event_seq, 'acquired', $2::jsonb,
          jsonb_build_object('epoch', x.epoch, 'attempt', x.attempt, 'runId', null) from x),
      c as (insert into public.execution_contributors (org_id, execution_id, member_id, attempt)
        select $1::uuid, x.id, ($2::jsonb ->> 'memberId')::uuid, x.attempt from x
        on conflict (org_id, execution_id, member_id, agent_id) do update set attempt = excluded.attempt
          where execution_contributors.attempt < excluded.attempt),
      f as (insert into bare.outbox (org_id, id, topic, payload)
        select $1::uuid, uuidv7(), 'forge.replay', jsonb_build_object('executionId', x.id) from x
        where exists (select from public.forge_repositories r join public.forge_facts f on f.org_id = r.org_id and f.repository_id = r.id
          where r.org_id = $1::uuid and r.project_id = x.project_id)),
      ${trail('execution.acquired', 'deliveryExecutions.acquire', '$3')}
    select ${executionColumns}, l.epoch, l.expires_at as "expiresAt", $7::text as "leaseToken", $4::uuid as known from x, l`,
  values: toAcquire,
});
const acquireAgain = acquire(
  `x as (update bare.executions e set ${takenUp} from s where e.org_id = $1::uuid and e.id = $4::uuid returning e.*)`,
);
const acquireFirst = acquire(
  `x as (insert into bare.executions as e (org_id, id, project_id, target_type, target_id, state, epoch, spec_version,
        last_event_seq, told_seq)
      select $1::uuid, uuidv7(), s.project_id, 'story', s.id, 'leased', $5::int, s.spec_version, 1, 1 from s returning e.*)`,
);

/** The holder acquires its own lease again, under the same epoch and with a new token. */
const acquireHeld: Write = {
  text: `with ${granted}, ${keptLocks(4)},
    x as (update bare.executions e set told_seq = e.last_event_seq, updated_at = clock_timestamp(), version = e.version + 1
      from l where e.org_id = $1::uuid and e.id = $4::uuid returning e.*),
    ${auditOf('acquire')}
    select ${executionColumns}, l.epoch, l.expires_at as "expiresAt", $7::text as "leaseToken" from x, l`,
  values: toAcquire,
};

/** The lease duration in seconds under the default policy. */
const defaultTtl = 900;

export const decisions = {
  '/comments/create': {
    target: ofStory,
    isBarred: true,
    looks: (body) => [lockStory(body)],
    decide: () => ({ write: bareStatements['/comments/create'], known: {} }),
  },
  '/stories/updateStatus': {
    target: ofStory,
    isBarred: true,
    // Locks the project's counters, because moves within a project are serialized. Reads the column's limit,
    // and the last rank in the column, because the story moves to its end.
    looks: (body) => [
      lockStory(body),
      {
        sql: `select k.project_id from project_counters k where k.org_id = $1
          and k.project_id = (select s.project_id from stories s where s.org_id = $1 and s.id = $2) for no key update`,
        parameters: [body.orgId, body.storyId],
      },
      {
        sql: `select c.id, c.wip_limit, c.story_count from board_columns c where c.org_id = $1
          and c.id in ($3, (select s.column_id from stories s where s.org_id = $1 and s.id = $2)) order by c.id for no key update`,
        parameters: [body.orgId, body.storyId, body.columnId],
      },
      {
        sql: `select n.rank from stories n where n.org_id = $1 and n.column_id = $3
          and n.project_id = (select s.project_id from stories s where s.org_id = $1 and s.id = $2) order by n.rank desc limit 1`,
        parameters: [body.orgId, body.storyId, body.columnId],
      },
    ],
    decide: () => ({ write: bareStatements['/stories/updateStatus'], known: {} }),
  },
  '/stories/create': {
    target: ({ projectId }) => ['project', projectId],
    isBarred: true,
    // Takes the project's next story number. Reads the policy, the column's limit, and the last rank in the
    // column.
    looks: ({ orgId, projectId }) => [
      { sql: 'select policy from orgs where id = $1', parameters: [orgId] },
      {
        sql: `update project_counters k set last_story_number = k.last_story_number + 1 from projects p
          where p.org_id = $1 and p.id = $2 and k.org_id = $1 and k.project_id = p.id returning p.key, k.last_story_number as number`,
        parameters: [orgId, projectId],
      },
      {
        sql: `select c.id, c.wip_limit, c.story_count, c.archived_at from board_columns c
          where c.org_id = $1 and c.project_id = $2 and c.id = ${firstColumn} for no key update`,
        parameters: [orgId, projectId],
      },
      {
        sql: `select n.rank from stories n where n.org_id = $1 and n.project_id = $2 and n.column_id = ${firstColumn}
          order by n.rank desc limit 1`,
        parameters: [orgId, projectId],
      },
    ],
    decide: (_body, looked) => ({
      write: createNumbered,
      known: { number: first(looked, 1)['number'], columnId: first(looked, 2)['id'] },
    }),
  },
  '/executions/acquire': {
    target: ({ targetId }) => ['story', targetId],
    isBarred: true,
    // Locks the member and the story's status. Creates missing lease rows, and locks the leases and
    // executions of all units that exclude each other.
    looks: ({ orgId, actor, targetId }) => [
      {
        sql: `select id from members where org_id = $1 and id = $2 and status = 'active' for share`,
        parameters: [orgId, actor.memberId],
      },
      {
        sql: 'select s.status, s.spec_version from stories s where s.org_id = $1 and s.id = $2 for share',
        parameters: [orgId, targetId],
      },
      {
        sql: `insert into leases (org_id, unit_type, unit_id, project_id) select $1, u.type, u.id, u.project_id from ${units} u
          order by u.type, u.id on conflict (org_id, unit_type, unit_id) do nothing`,
        parameters: [orgId, targetId],
      },
      {
        sql: `select l.unit_id, l.state, l.epoch, l.holder, l.member_id, l.agent_id, l.run_id, l.expires_at from leases l
          where l.org_id = $1 and l.unit_type in ('story', 'delivery_group') and l.unit_id = ${unitIds}
          order by l.unit_type, l.unit_id for no key update`,
        parameters: [orgId, targetId],
      },
      {
        sql: `select e.id, e.target_id, e.state, e.epoch, e.attempt, e.offer, e.stop_requested from executions e
          where e.org_id = $1 and e.state <> 'completed' and e.target_type in ('story', 'delivery_group') and e.target_id = ${unitIds}
          order by e.id for no key update`,
        parameters: [orgId, targetId],
      },
      { sql: 'select policy from orgs where id = $1', parameters: [orgId] },
      { sql: 'select clock_timestamp()::timestamptz(3) as now', parameters: [] },
    ],
    decide: ({ actor, targetId }, looked) => {
      // Leases never expire in the benchmark, and only this member holds any.
      const leases = looked[3] ?? [];
      const isFree = (lease: Row): boolean =>
        lease['state'] === 'free' || (lease['member_id'] === actor.memberId && lease['agent_id'] === null);
      const own = leases.find((lease) => lease['unit_id'] === targetId);
      if (looked[0]?.length !== 1 || own === undefined || !leases.every(isFree)) throw new Error('held');
      const status = first(looked, 1)['status'];
      if (status === 'done' || status === 'canceled') throw new Error('over');
      const found = looked[4]?.find((row) => row['target_id'] === targetId);
      const isHeld = own['state'] === 'held';
      const epoch = Number(own['epoch']) + Number(!isHeld);
      const leaseToken = `lse_${epoch}_${randomBytes(24).toString('base64url')}`;
      return {
        write: isHeld ? acquireHeld : found === undefined ? acquireFirst : acquireAgain,
        known: {
          ...{ epoch, leaseToken, tokenHash: hash('sha256', leaseToken, 'buffer') },
          ...{ known: found?.['id'] ?? null, ttlSeconds: defaultTtl },
        },
      };
    },
  },
  '/executions/renew': {
    target: ofExecution,
    isBarred: false,
    looks: lockHeld,
    decide: (body, looked) => {
      const { found, known } = holder(body, looked);
      return { write: renew, known, answer: found };
    },
  },
  '/executions/checkpoint': {
    target: ofExecution,
    isBarred: true,
    looks: lockHeld,
    decide: (body, looked) => ({ write: checkpoint, known: holder(body, looked).known }),
  },
  '/executions/release': {
    target: ofExecution,
    isBarred: false,
    looks: lockHeld,
    decide: (body, looked) => ({ write: release, known: holder(body, looked).known }),
  },
} satisfies Readonly<Record<string, BareDecision>>;

export type WritePath = keyof typeof decisions;
