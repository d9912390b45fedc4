/** Builds the facts of a call that the audit stores. */
import { type Operation } from '@muster/contract';
import { type AuditFacts, type DomainEvent } from '@muster/tenancy';
import { type OperationCall } from './operation-call.ts';

/**
 * True for a parameter that names a record. Text that a member wrote is never stored, since the trail
 * outlives the record.
 */
const isReferenceParam = (param: string): boolean => /(?:Id|^slug|^key)$/.test(param);

/**
 * Returns the subject of a call for the audit: the record that it names, else the first naming parameter in
 * the order of the contract. The order of the request does not count, since a caller may send anything first,
 * even a secret.
 */
function findAuditSubject({ target, params: { shape } }: Operation, params: unknown): string | null {
  if (typeof params !== 'object' || params === null) return null;
  const given = new Map<string, unknown>(Object.entries(params));
  const named = target ?? Object.keys(shape).find((param) => isReferenceParam(param) && given.has(param));
  const subject = named === undefined ? undefined : given.get(named);
  return typeof subject === 'string' ? subject.slice(0, 200) : null;
}

/** The effect of a successful call. */
interface SuccessfulCall {
  readonly result: Readonly<Record<string, unknown>>;
  readonly domainEvents: readonly DomainEvent[];
}

const idOf = (record: unknown): string | null =>
  typeof record === 'object' && record !== null && 'id' in record && typeof record.id === 'string'
    ? record.id
    : null;

/**
 * Returns the id of the record that a call created or changed, for calls whose parameters name no record. It
 * is the record in the result, or else the subject of the first event.
 */
function changedRecordIdOf({ result, domainEvents }: SuccessfulCall): string | null {
  const answered = Object.values(result).find((record) => idOf(record) !== null);
  return idOf(answered ?? domainEvents[0]?.subject);
}

export const buildAuditFacts = (
  operation: Operation,
  call: OperationCall,
  success?: SuccessfulCall,
): AuditFacts => ({
  operation: operation.name,
  target:
    findAuditSubject(operation, call.params) ?? (success === undefined ? null : changedRecordIdOf(success)),
  tokenId: call.token.identity.tokenId,
  ip: call.ip,
  userAgent: call.userAgent,
  requestId: call.requestId,
});
