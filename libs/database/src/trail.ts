/** What a write leaves behind, in one statement at the end of its transaction: activity, outbox and audit. */
import { type Actor, type EventKind, type Subject } from '@muster/registry';
import { CompiledQuery } from 'kysely';
import { newId } from './id.ts';

export interface Happening {
  readonly kind: EventKind;
  readonly subject: Subject;
  readonly data: Record<string, unknown>;
}

/** Where a call came from and what it was, for the audit. */
export interface AuditFacts {
  readonly operation: string;
  readonly target: string | null;
  readonly tokenId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string;
}

const auditColumns =
  'insert into audit (org_id, seq, id, actor, member_id, agent_id, token_id, operation, target, outcome, reason, ip, user_agent, request_id)';

const auditOnly = `
  with s as (update streams set audit = audit + 1 where org_id = $1 returning audit)
  ${auditColumns}
  select $1, s.audit, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 from s`;

/**
 * The stream's row stays locked from here to the commit, which is what makes numbers follow the order of commits;
 * so this is the last statement of its transaction.
 */
const withEvents = `
  with e as (select * from jsonb_to_recordset($14::jsonb)
      as e(ord int, id uuid, outbox_id uuid, kind text, project_id uuid, story_id uuid, subject jsonb, data jsonb)),
  s as (/*guard: numbers follow the order of commits*/update streams set audit = audit + 1, activity = activity + $15 where org_id = $1 returning audit, activity/*end*/),
  a as (insert into activity (org_id, seq, id, kind, actor, member_id, agent_id, project_id, story_id, subject, data)
    select $1, s.activity - $15 + e.ord, e.id, e.kind, $3, $4, $5, e.project_id, e.story_id, e.subject, e.data from e, s),
  o as (insert into outbox (org_id, id, topic, payload)
    select $1, e.outbox_id, 'event', jsonb_build_object('activitySeq', s.activity - $15 + e.ord, 'kind', e.kind) from e, s)
  ${auditColumns}
  select $1, s.audit, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 from s`;

/** The statement that leaves it. `outcome` denied has a reason and no happenings. */
export function trail(
  orgId: string,
  actor: Actor,
  facts: AuditFacts,
  outcome:
    | { readonly allowed: true; readonly happenings: readonly Happening[] }
    | { readonly allowed: false; readonly reason: string },
): CompiledQuery {
  const parameters = [
    orgId,
    newId(),
    actor,
    actor.memberId,
    actor.agentId,
    facts.tokenId,
    facts.operation,
    facts.target,
    outcome.allowed ? 'allowed' : 'denied',
    outcome.allowed ? null : outcome.reason,
    facts.ip,
    facts.userAgent,
    facts.requestId,
  ];
  if (!outcome.allowed || outcome.happenings.length === 0) return CompiledQuery.raw(auditOnly, parameters);
  const rows = outcome.happenings.map((happening, index) => ({
    ord: index + 1,
    id: newId(),
    outbox_id: newId(),
    kind: happening.kind,
    project_id: happening.subject.projectId,
    story_id: happening.subject.type === 'story' ? happening.subject.id : null,
    subject: {
      type: happening.subject.type,
      id: happening.subject.id,
      key: happening.subject.key,
      title: happening.subject.title,
    },
    data: happening.data,
  }));
  return CompiledQuery.raw(withEvents, [...parameters, JSON.stringify(rows), rows.length]);
}

const systemActor = (name: string): Actor => ({ kind: 'system', memberId: null, agentId: null, name });

/** Who does what follows by itself. */
export const workerActor = systemActor('worker');

/** Of what no token asked for. */
export const systemFacts = (operation: string, target: string | null): AuditFacts => ({
  ...{ operation, target, requestId: newId() },
  ...{ tokenId: null, ip: null, userAgent: null },
});

const operatorActor = systemActor('operator');

/** What an operator's write leaves in the audit of the organization; the last statement of its transaction, too. */
export const operatorTrail = (orgId: string, operation: string, target: string | null): CompiledQuery =>
  trail(orgId, operatorActor, systemFacts(operation, target), { allowed: true, happenings: [] });
