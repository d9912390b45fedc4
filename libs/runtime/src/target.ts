/** The record that a call is about: its reference is resolved once, by the way in. */
import { type Part, sql } from '@muster/driver';
import { isUuid, type Operation, projectRank, targetKindOf } from '@muster/registry';
import { targetId, type Visit } from '@muster/tenancy';

type Named = Visit['target'];

/** The record whose project decides, as the door takes it: by id, or by key where the contract allows one. */
export function targetOf(operation: Operation, params: Record<string, unknown>): Named {
  // Not a record: the door hands out the pass that opens all organizations.
  if (operation.access.kind === 'platform') return { kind: 'platform', ref: '', rank: 0 };
  if (operation.access.kind !== 'project' || operation.target === null) return null;
  const ref = params[operation.target];
  if (typeof ref !== 'string') return null;
  const kind = targetKindOf(operation.target, params);
  return { kind: isUuid(ref) ? kind : `${kind}Key`, ref, rank: projectRank(operation.access.role) };
}

/**
 * The id of the record that an operation is about, as statements say it. The way in has resolved the call's own reference;
 * another record, that the call's handler names for an operation that it performs, it names by id.
 */
export function targetIdOf(named: Named, called: Named): Part {
  if (named === null) return sql.part`null::uuid`;
  if (named.kind === called?.kind && named.ref === called.ref) return targetId;
  if (!isUuid(named.ref))
    throw new Error(`a ${named.kind} is not named by id where an operation is performed`);
  return sql.part`${named.ref}::uuid`;
}
