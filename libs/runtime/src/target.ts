/** Determines the record that a call concerns. The authorization check resolves its reference once. */
import { type Part, sql } from '@muster/driver';
import { isUuid, type Operation, projectRank, targetKindOf, type TargetParam } from '@muster/contract';
import { targetIdSql, type AccessCheckInput } from '@muster/tenancy';

type TargetReference = AccessCheckInput['target'];

/** Returns the parameter that names the target record in this call; null if the call has no target. */
export function targetParamOf(
  { target, alternativeTarget }: Pick<Operation, 'target' | 'alternativeTarget'>,
  params: unknown,
): TargetParam | null {
  if (target === null || alternativeTarget === null) return target;
  const given = typeof params === 'object' && params !== null ? (params as Record<string, unknown>) : {};
  return given[target] === undefined ? alternativeTarget : target;
}

/**
 * Returns the record whose project the authorization check must use, in the form that the check accepts: by
 * id, or by key if the contract allows a key.
 */
export function targetOf(operation: Operation, params: Record<string, unknown>): TargetReference {
  // A platform operation names no record. The authorization check grants operators access to all
  // organizations instead.
  if (operation.access.kind === 'platform') return { kind: 'platform', ref: '', rank: 0 };
  const target = targetParamOf(operation, params);
  if (operation.access.kind !== 'project' || target === null) return null;
  const ref = params[target];
  if (typeof ref !== 'string') return null;
  const kind = operation.targetsDeleted ? 'deletedStory' : targetKindOf(target, params);
  return { kind: isUuid(ref) ? kind : `${kind}Key`, ref, rank: projectRank(operation.access.role) };
}

/**
 * Returns SQL for the id of the record that an operation concerns. The authorization check has resolved the
 * call's own reference. An operation that a handler performs on another record must name it by id.
 */
export function targetIdOf(reference: TargetReference, callTarget: TargetReference): Part {
  if (reference === null) return sql.part`null::uuid`;
  if (reference.kind === callTarget?.kind && reference.ref === callTarget.ref) return targetIdSql;
  if (!isUuid(reference.ref)) throw new Error(`a ${reference.kind} must be named by id here`);
  return sql.part`${reference.ref}::uuid`;
}
