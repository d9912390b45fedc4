/**
 * The lease statements of the bare server. Each statement writes the lease, the execution, its event and the
 * trail, and is fenced by the token's hash. It checks no permissions, no competing leases and no locks, and
 * reads no messages for the holder.
 */

export const bareLeaseTables = `
  create table bare.leases (like public.leases including all);
  create table bare.executions (like public.executions including all);
  create table bare.execution_events (like public.execution_events including all);`;

/** Returns the SQL of the trail for the story of the CTE `s`. */
type Trail = (kind: string, operation: string) => string;

/** Updates the held lease of the execution $3 whose token is $4. */
const lease = (changes: string): string => `
  l as (update bare.leases l set ${changes} from bare.executions e
    where e.org_id = $1::uuid and e.id = $3::uuid and l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
      and l.state = 'held' and l.epoch = e.epoch and l.token_hash = sha256($4::text::bytea)
    returning l.unit_id, l.epoch, l.expires_at, l.ttl_seconds),
  s as (select s.* from bare.stories s, l where s.org_id = $1::uuid and s.id = l.unit_id)`;

/** The SQL assignments that start the duration of a lease again. */
export const renewal = `expires_at = clock_timestamp() + make_interval(secs => l.ttl_seconds), expiry_noted = false`;

/** Updates the execution $3 if the lease was updated, and adds an event to its stream. */
export const execution = (changes: string, kind: string, data = `'{}'::jsonb`): string => `
  x as (update bare.executions e set ${changes}, last_event_seq = e.last_event_seq + 1, told_seq = e.last_event_seq + 1,
      updated_at = clock_timestamp(), version = e.version + 1
    from l where e.org_id = $1::uuid and e.id = $3::uuid returning e.*),
  v as (insert into bare.execution_events (org_id, execution_id, seq, kind, actor, data)
    select $1::uuid, x.id, x.last_event_seq, '${kind}', $2::jsonb, ${data} from x)`;

/**
 * The SQL that writes a checkpoint to the execution. Parameters $5 to $7 are its summary, next steps and
 * touched files.
 */
export const checkpointed = execution(
  `checkpoint = jsonb_build_object('seq', e.checkpoint_seq + 1, 'summary', $5::text, 'nextSteps', $6::text[], 'filesTouched', $7::text[]),
    checkpoint_seq = e.checkpoint_seq + 1`,
  'checkpointed',
  `jsonb_build_object('seq', x.checkpoint_seq, 'summary', $5::text)`,
);

export const executionColumns = `x.id, x.project_id as "projectId", x.target_type as "targetType", x.target_id as "targetId", x.state,
  x.phase, x.progress, x.attempt, x.spec_version as "specVersion", x.checkpoint, x.git, x.outcome, x.last_event_seq as "lastEventSeq",
  x.created_at as "createdAt", x.updated_at as "updatedAt", x.version`;

export const bareLeaseStatements = (trailOf: Trail) =>
  ({
    '/executions/acquire': {
      text: `with t as materialized (select gen_random_uuid()::text as token),
        s as (select * from bare.stories where org_id = $1::uuid and id = $3::uuid),
        l as (insert into bare.leases as h (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, member_id,
              ttl_seconds, granted_at, expires_at)
            select $1::uuid, 'story', s.id, s.project_id, 'held', 1, sha256(t.token::bytea), $2::jsonb,
              ($2::jsonb ->> 'memberId')::uuid, 900, clock_timestamp(), clock_timestamp() + interval '900 s' from s, t
            on conflict (org_id, unit_type, unit_id) do update set state = 'held', token_hash = excluded.token_hash,
              epoch = h.epoch + 1, holder = excluded.holder, member_id = excluded.member_id, ttl_seconds = excluded.ttl_seconds,
              granted_at = excluded.granted_at, expires_at = excluded.expires_at, expiry_noted = false
            where h.state = 'free' or h.expires_at < clock_timestamp() or h.member_id = excluded.member_id
            returning *),
        x as (insert into bare.executions as e (org_id, id, project_id, target_type, target_id, state, epoch, last_event_seq, told_seq)
            select $1::uuid, uuidv7(), l.project_id, 'story', l.unit_id, 'leased', l.epoch, 1, 1 from l
            on conflict (org_id, target_type, target_id) where state <> 'completed' do update set state = 'leased',
              epoch = excluded.epoch, attempt = e.attempt + 1, last_event_seq = e.last_event_seq + 1,
              told_seq = e.last_event_seq + 1, updated_at = clock_timestamp(), version = e.version + 1
            returning *),
        v as (insert into bare.execution_events (org_id, execution_id, seq, kind, actor)
            select $1::uuid, x.id, x.last_event_seq, 'acquired', $2::jsonb from x),
        ${trailOf('execution.acquired', 'deliveryExecutions.acquire')}
        select ${executionColumns}, l.epoch, l.expires_at as "expiresAt", t.token as "leaseToken" from x, l, t`,
      values: ['orgId', 'actor', 'targetId'],
      answer: 'execution',
    },
    '/executions/renew': {
      text: `with ${lease(renewal)},
        x as (select e.* from bare.executions e, l where e.org_id = $1::uuid and e.id = $3::uuid),
        u as (insert into bare.audit (org_id, seq, id, actor, member_id, operation, target, outcome, ip, request_id)
          select $1::uuid, nextval('bare.audit_seq'), uuidv7(), $2::jsonb, ($2::jsonb ->> 'memberId')::uuid,
            'deliveryExecutions.renew', s.id, 'allowed', '127.0.0.1', 'bare' from s)
        select ${executionColumns}, l.epoch, l.expires_at as "expiresAt" from x, l`,
      values: ['orgId', 'actor', 'executionId', 'leaseToken'],
      answer: 'execution',
    },
    '/executions/checkpoint': {
      text: `with ${lease(renewal)},
        ${checkpointed},
        ${trailOf('execution.checkpointed', 'deliveryExecutions.checkpoint')}
        select ${executionColumns}, l.epoch, l.expires_at as "expiresAt" from x, l`,
      values: ['orgId', 'actor', 'executionId', 'leaseToken', 'summary', 'nextSteps', 'filesTouched'],
      answer: 'execution',
    },
    '/executions/release': {
      text: `with ${lease(`state = 'free', token_hash = null, holder = null, expires_at = null`)},
        ${execution(`state = 'available'`, 'released')},
        ${trailOf('execution.released', 'deliveryExecutions.release')}
        select ${executionColumns}, l.epoch from x, l`,
      values: ['orgId', 'actor', 'executionId', 'leaseToken'],
      answer: 'execution',
    },
  }) as const;
