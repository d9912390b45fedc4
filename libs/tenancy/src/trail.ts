/** Writes the trail of a write in one statement at the end of its transaction: activity, outbox and audit. */
import { newId, orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type Actor, type EventKind, type Subject } from '@muster/contract';

export interface DomainEvent {
  readonly kind: EventKind;
  readonly subject: Subject;
  readonly data: Record<string, unknown>;
}

/** The origin and the operation of a call, for the audit. */
export interface AuditFacts {
  readonly operation: string;
  readonly target: string | null;
  readonly tokenId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string;
}

/** Returns SQL that inserts the audit's row, numbered by the CTE `s`. */
const auditRow = (
  actor: Actor,
  facts: AuditFacts,
  outcome: 'allowed' | 'denied',
  reason: string | null,
): Part =>
  sql.part`insert into audit (org_id, seq, id, actor, member_id, agent_id, token_id, operation, target, outcome, reason, ip, user_agent, request_id)
  select ${currentOrgId}, s.audit, ${newId()}, ${actor}, ${actor.memberId}, ${actor.agentId}, ${facts.tokenId}, ${facts.operation},
    ${facts.target}, ${outcome}, ${reason}, ${facts.ip}, ${facts.userAgent}, ${facts.requestId} from s`;

const auditOnlyStatement = (insertAudit: Part): Query<unknown> =>
  sql`with s as (update streams set audit = audit + 1 where ${orgFilter()} returning audit) ${insertAudit}`;

interface EventRow {
  /** The position among the events of the transaction, counted from 1. */
  readonly ord: number;
}

/**
 * Builds the statement that writes events and the audit. It locks the stream's row until the commit, which
 * makes the numbers follow the order of commits. It must therefore be the last statement of its transaction.
 */
const eventsAndAuditStatement = (
  actor: Actor,
  events: readonly EventRow[],
  insertAudit: Part,
): Query<unknown> => sql`
  with e as (select * from jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
      as e(ord int, id uuid, outbox_id uuid, kind text, project_id uuid, story_id uuid, subject jsonb, data jsonb)),
  s as (/*guard: numbers follow the order of commits*/update streams set audit = audit + 1, activity = activity + ${events.length} where ${orgFilter()} returning audit, activity/*end*/),
  a as (insert into activity (org_id, seq, id, kind, actor, member_id, agent_id, project_id, story_id, subject, data)
    select ${currentOrgId}, s.activity - ${events.length}::int + e.ord, e.id, e.kind, ${actor}, ${actor.memberId}, ${actor.agentId}, e.project_id, e.story_id, e.subject, e.data from e, s),
  o as (insert into outbox (org_id, id, topic, payload)
    select ${currentOrgId}, e.outbox_id, 'event', jsonb_build_object('activitySeq', s.activity - ${events.length}::int + e.ord, 'kind', e.kind) from e, s)
  ${insertAudit}`;

/** Builds the statement that writes the trail. A denied outcome has a reason and no domain events. */
export function trailStatement(
  actor: Actor,
  facts: AuditFacts,
  outcome:
    | { readonly allowed: true; readonly domainEvents: readonly DomainEvent[] }
    | { readonly allowed: false; readonly reason: string },
): Query<unknown> {
  if (!outcome.allowed) return auditOnlyStatement(auditRow(actor, facts, 'denied', outcome.reason));
  const audit = auditRow(actor, facts, 'allowed', null);
  if (outcome.domainEvents.length === 0) return auditOnlyStatement(audit);
  const events = outcome.domainEvents.map((domainEvent, index) => ({
    ord: index + 1,
    id: newId(),
    outbox_id: newId(),
    kind: domainEvent.kind,
    project_id: domainEvent.subject.projectId,
    story_id: domainEvent.subject.type === 'story' ? domainEvent.subject.id : null,
    subject: {
      type: domainEvent.subject.type,
      id: domainEvent.subject.id,
      key: domainEvent.subject.key,
      title: domainEvent.subject.title,
    },
    data: domainEvent.data,
  }));
  return eventsAndAuditStatement(actor, events, audit);
}

const systemActor = (name: string): Actor => ({ kind: 'system', memberId: null, agentId: null, name });

/** The actor of automatic follow-up work. */
export const workerActor = systemActor('worker');

/** Returns the audit facts of an operation that no token requested. */
export const systemAuditFacts = (operation: string, target: string | null): AuditFacts => ({
  ...{ operation, target, requestId: newId() },
  ...{ tokenId: null, ip: null, userAgent: null },
});

const operatorActor = systemActor('operator');

/** Builds the audit entry of an operator's write. It must also be the last statement of its transaction. */
export const operatorTrailStatement = (operation: string, target: string | null): Query<unknown> =>
  trailStatement(operatorActor, systemAuditFacts(operation, target), { allowed: true, domainEvents: [] });
