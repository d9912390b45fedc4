import { type Db, type DB, newId, type Param, query, sqlQuery, statement } from '@muster/database';
import { type Member, notFound, type OrgRole } from '@muster/registry';
import { type Selectable } from 'kysely';
import { handleFor, uniqueHandle } from '../rules/handles.ts';

type MemberRow = Omit<Selectable<DB['members']>, 'org_id'>;

export const memberColumns = [
  'id',
  'email',
  'name',
  'handle',
  'role',
  'status',
  'created_at',
  'updated_at',
  'version',
] as const;

export const toMember = (row: MemberRow): Member => ({
  id: row.id,
  email: row.email,
  name: row.name,
  handle: row.handle,
  role: row.role,
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

const memberById = statement((param: Param<{ orgId: string; memberId: string }>) =>
  query
    .selectFrom('members')
    .select(memberColumns)
    .where('org_id', '=', param('orgId'))
    .where('id', '=', param('memberId')),
);

export async function getMember(db: Db, orgId: string, memberId: string): Promise<Member> {
  const row = await db.find(memberById({ orgId, memberId }));
  if (row === undefined) throw notFound();
  return toMember(row);
}

interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: OrgRole;
}

/** Writes a new member under a handle of their own. Whoever adds members to an organization takes turns. */
export async function setNewMember(db: Db, orgId: string, { email, name, role }: NewMember): Promise<Member> {
  const wanted = handleFor(name, email);
  const taken = await db.all(
    sqlQuery<{ handle: string }>(`select handle from members where org_id = $1 and starts_with(handle, $2)`, [
      orgId,
      wanted,
    ]),
  );
  const handle = uniqueHandle(wanted, new Set(taken.map((row) => row.handle)));
  return toMember(
    await db.one(
      query
        .insertInto('members')
        .values({ org_id: orgId, id: newId(), email, name, handle, role, status: 'active' })
        .returning(memberColumns),
    ),
  );
}
