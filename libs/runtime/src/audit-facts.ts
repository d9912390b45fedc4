/** What the audit keeps of a call. */
import { type AuditFacts } from '@muster/database';
import { type Operation } from '@muster/registry';
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

export const auditFacts = (operation: Operation, call: Call): AuditFacts => ({
  operation: operation.name,
  target: subjectOf(operation, call.params),
  tokenId: call.token.identity.tokenId,
  ip: call.ip,
  userAgent: call.userAgent,
  requestId: call.requestId,
});
