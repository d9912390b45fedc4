/** What the audit keeps of a call. */
import { type Operation } from '@muster/registry';
import { type AuditFacts, type DomainEvent } from '@muster/tenancy';
import { type Call } from './execute.ts';

/** What names a record: never what a member wrote into one, since the trail outlives it. */
const isName = (param: string): boolean => /(?:Id|^slug|^key)$/.test(param);

/**
 * What a call is about, for the audit: the record that it names, else the first that the contract states of those that
 * it can name. Not what was sent first: that can be any, a secret too.
 */
function subjectOf({ target, params: { shape } }: Operation, params: unknown): string | null {
  if (typeof params !== 'object' || params === null) return null;
  const given = new Map<string, unknown>(Object.entries(params));
  const named = target ?? Object.keys(shape).find((param) => isName(param) && given.has(param));
  const subject = named === undefined ? undefined : given.get(named);
  return typeof subject === 'string' ? subject.slice(0, 200) : null;
}

/** What a call did, where it did something. */
interface Done {
  readonly result: Readonly<Record<string, unknown>>;
  readonly domainEvents: readonly DomainEvent[];
}

const idOf = (record: unknown): string | null =>
  typeof record === 'object' && record !== null && 'id' in record && typeof record.id === 'string'
    ? record.id
    : null;

/** The record that was made or changed where the call names none: the one that it is answered, else what its event is about. */
function outcomeOf({ result, domainEvents }: Done): string | null {
  const answered = Object.values(result).find((record) => idOf(record) !== null);
  return idOf(answered ?? domainEvents[0]?.subject);
}

export const auditFacts = (operation: Operation, call: Call, done?: Done): AuditFacts => ({
  operation: operation.name,
  target: subjectOf(operation, call.params) ?? (done === undefined ? null : outcomeOf(done)),
  tokenId: call.token.identity.tokenId,
  ip: call.ip,
  userAgent: call.userAgent,
  requestId: call.requestId,
});
