/** Replaces members and agents that parameters name by handle or slug with their ids. */
import { type Db, orgFilter, sql } from '@muster/driver';
import { isUuid, issuePath, pathNotFound, type Operation, type PersonKind } from '@muster/contract';

type PathStep = string | number;

interface NamedReference {
  readonly kind: PersonKind;
  readonly path: readonly PathStep[];
  readonly handle: string;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Yields the names in `value` at the path that the contract declares; ids are skipped. */
function* collectNames(
  value: unknown,
  kind: PersonKind,
  [step, ...rest]: readonly string[],
  path: readonly PathStep[] = [],
): Generator<NamedReference> {
  if (step === undefined) {
    if (typeof value === 'string' && !isUuid(value)) yield { kind, path, handle: value.replace(/^@/, '') };
  } else if (step === '[]') {
    const items: unknown[] = Array.isArray(value) ? value : [];
    for (const [index, item] of items.entries()) yield* collectNames(item, kind, rest, [...path, index]);
  } else if (isRecord(value)) yield* collectNames(value[step], kind, rest, [...path, step]);
}

/** Returns a copy of `value` with `leaf` at the path. */
function replaceAtPath(value: unknown, [step, ...rest]: readonly PathStep[], replacement: string): unknown {
  if (step === undefined) return replacement;
  if (Array.isArray(value))
    return (value as unknown[]).with(Number(step), replaceAtPath(value[Number(step)], rest, replacement));
  const record = value as Record<string, unknown>;
  return { ...record, [step]: replaceAtPath(record[step], rest, replacement) };
}

/**
 * Returns one row per name. A slug is unique among the agents of a member. The caller's own agent takes
 * precedence, then an agent of another member if only one has that slug. `me` names the calling member, unless
 * somebody has it as a handle or slug.
 */
const findPeople = (references: readonly NamedReference[], callerId: string) =>
  sql<{ id: string | null }>`select coalesce(m.id, own.id, other.id,
      case when n.handle = 'me' and n.kind <> 'agent' then ${callerId}::uuid end) as id
    from unnest(${references.map(({ kind }) => kind)}::text[], ${references.map(({ handle }) => handle)}::text[])
      with ordinality n (kind, handle, place)
    left join members m on ${orgFilter('m')} and m.handle = n.handle and n.kind <> 'agent'
    left join agents own on ${orgFilter('own')} and own.member_id = ${callerId} and own.slug = n.handle and n.kind <> 'member'
    left join lateral (
      select (array_agg(a.id))[1] as id from agents a
      where ${orgFilter('a')} and a.slug = n.handle and n.kind <> 'member' having count(*) = 1
    ) other on true
    order by n.place`;

/** Throws 404 with the path of the first unknown name. */
async function resolveReferences(
  db: Db,
  callerId: string,
  params: Record<string, unknown>,
  references: readonly NamedReference[],
): Promise<Record<string, unknown>> {
  const rows = await db.all(findPeople(references, callerId));
  return references.reduce((replaced, { path }, index) => {
    const id = rows[index]?.id;
    if (id == null) throw pathNotFound(issuePath(path));
    return replaceAtPath(replaced, path, id) as Record<string, unknown>;
  }, params);
}

/**
 * Resolves all names of a call in one statement. Returns undefined if there are only ids, so that such a call
 * does not wait.
 */
export function replaceNamesWithIds(
  db: Db,
  callerId: string,
  { personPaths }: Operation,
  params: Record<string, unknown>,
): Promise<Record<string, unknown>> | undefined {
  const named = personPaths.flatMap(({ kind, path }) => [...collectNames(params, kind, path)]);
  return named.length === 0 ? undefined : resolveReferences(db, callerId, params, named);
}
