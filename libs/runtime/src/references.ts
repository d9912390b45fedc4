/** Replaces members and agents that parameters name by handle or slug with their ids. */
import { type Db, of, sql } from '@muster/driver';
import { isUuid, issuePath, nothingAt, type Operation, type PersonKind } from '@muster/registry';

type Step = string | number;

interface Named {
  readonly kind: PersonKind;
  readonly path: readonly Step[];
  readonly handle: string;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Yields the names in `value` at the path that the contract declares; ids are skipped. */
function* namesAt(
  value: unknown,
  kind: PersonKind,
  [step, ...rest]: readonly string[],
  path: readonly Step[] = [],
): Generator<Named> {
  if (step === undefined) {
    if (typeof value === 'string' && !isUuid(value)) yield { kind, path, handle: value.replace(/^@/, '') };
  } else if (step === '[]') {
    const items: unknown[] = Array.isArray(value) ? value : [];
    for (const [index, item] of items.entries()) yield* namesAt(item, kind, rest, [...path, index]);
  } else if (isRecord(value)) yield* namesAt(value[step], kind, rest, [...path, step]);
}

/** Returns a copy of `value` with `leaf` at the path. */
function withLeaf(value: unknown, [step, ...rest]: readonly Step[], leaf: string): unknown {
  if (step === undefined) return leaf;
  if (Array.isArray(value))
    return (value as unknown[]).with(Number(step), withLeaf(value[Number(step)], rest, leaf));
  const record = value as Record<string, unknown>;
  return { ...record, [step]: withLeaf(record[step], rest, leaf) };
}

/**
 * Returns one row per name. A slug is unique among the agents of a member. The caller's own agent takes
 * precedence, then an agent of another member if only one has that slug.
 */
const findPeople = (named: readonly Named[], callerId: string) =>
  sql<{ id: string | null }>`select coalesce(m.id, own.id, other.id) as id
    from unnest(${named.map(({ kind }) => kind)}::text[], ${named.map(({ handle }) => handle)}::text[])
      with ordinality n (kind, handle, place)
    left join members m on ${of('m')} and m.handle = n.handle and n.kind <> 'agent'
    left join agents own on ${of('own')} and own.member_id = ${callerId} and own.slug = n.handle and n.kind <> 'member'
    left join lateral (
      select (array_agg(a.id))[1] as id from agents a
      where ${of('a')} and a.slug = n.handle and n.kind <> 'member' having count(*) = 1
    ) other on true
    order by n.place`;

/** Throws 404 with the path of the first unknown name. */
async function replace(
  db: Db,
  callerId: string,
  params: Record<string, unknown>,
  named: readonly Named[],
): Promise<Record<string, unknown>> {
  const rows = await db.all(findPeople(named, callerId));
  return named.reduce((replaced, { path }, index) => {
    const id = rows[index]?.id;
    if (id == null) throw nothingAt(issuePath(path));
    return withLeaf(replaced, path, id) as Record<string, unknown>;
  }, params);
}

/**
 * Resolves all names of a call in one statement. Returns undefined if there are only ids, so that such a call
 * does not wait.
 */
export function replaceNames(
  db: Db,
  callerId: string,
  { personPaths }: Operation,
  params: Record<string, unknown>,
): Promise<Record<string, unknown>> | undefined {
  const named = personPaths.flatMap(({ kind, path }) => [...namesAt(params, kind, path)]);
  return named.length === 0 ? undefined : replace(db, callerId, params, named);
}
