import {
  CursorId,
  type Db,
  decodeCursor,
  of,
  pageOfRows,
  type Query,
  type RowOf,
  sql,
  view,
} from '@muster/driver';
import {
  type Invitation,
  type InvitationState,
  type ParamsOf,
  type Registry,
  type Subject,
} from '@muster/registry';
import { z } from 'zod';
import { type Sends } from '../rules/invitation-sends.ts';
import { invitationDays } from '../rules/invitation-states.ts';

/** But for its state, which is not read as it is stored. */
const invitations = view(
  'invitations',
  'i',
  [
    'id',
    'email',
    'role',
    'team_ids',
    'project_ids',
    'invited_by',
    'expires_at',
    'member_id',
    'created_at',
    'updated_at',
    'version',
  ],
  ['sends', 'sent_at'],
);
/** An invitation as it is now: a pending one whose time is over is expired. */
export type InvitationRow = RowOf<typeof invitations> & { readonly state: InvitationState };

/** By the clock and not by the transaction's time, as the seats are: see seats.ts. */
const stateNow = sql.part`case when i.state = 'pending' and i.expires_at <= clock_timestamp() then 'expired' else i.state end`;

const columns = sql.part`${invitations.list}, ${stateNow} as state`;

export const toInvitation = (row: InvitationRow): Invitation => ({
  ...invitations.shown(row),
  state: row.state,
});

/** What everybody may read of it; whom it is for is only for those who may invite. */
export const aboutInvitation = (
  { id, role }: Pick<InvitationRow, 'id' | 'role'>,
  title = `Invitation as ${role}`,
): Subject => ({ type: 'invitation', id, key: null, title, projectId: null });

/** Locks an invitation against other writers until this transaction ends; after the seats, where those are locked. */
export function lockInvitation(db: Db, id: string): Promise<InvitationRow> {
  return db.get(
    sql<InvitationRow>`select ${columns} from invitations i where ${of('i')} and i.id = ${id} for no key update`,
  );
}

/** The same by its secret, which may have been replaced since it was looked up at the door. */
export function lockInvitationBySecret(db: Db, secretHash: Buffer): Promise<InvitationRow> {
  return db.get(
    sql<InvitationRow>`select ${columns} from invitations i where ${of('i')} and i.token_hash = ${secretHash} for no key update`,
  );
}

/** Locks the invitation of this address, in any case, that is neither accepted nor revoked; there is at most one. */
export const lockOpenInvitation = (db: Db, email: string): Promise<InvitationRow | undefined> =>
  db.find(
    sql<InvitationRow>`select ${columns} from invitations i
       where ${of('i')} and lower(i.email) = lower(${email}) and i.state = 'pending' for no key update`,
  );

/** The e-mails that went to an address, in any case, in the days of an invitation; by whatever invitation. */
const sendsTo = (address: unknown): Query<Sends> =>
  sql<Sends>`select coalesce(sum(i.sends), 0)::int as count, max(i.sent_at) as last from invitations i
     where ${of('i')} and lower(i.email) = lower(${address})
       and i.sent_at > now() - make_interval(days => ${sql.literal(invitationDays)})`;
export const getSendsTo = (db: Db, email: string): Promise<Sends> =>
  db.one(sendsTo(sql.part`${email}::text`));
export const getSendsOf = (db: Db, invitationId: string): Promise<Sends> =>
  db.one(sendsTo(sql.part`(select o.email from invitations o where ${of('o')} and o.id = ${invitationId})`));

const Cursor = z.tuple([CursorId]);

/** A page of the organization's invitations, newest first. */
export async function listInvitations(
  db: Db,
  { state, limit, cursor }: ParamsOf<Registry['invitations']['list']>,
): Promise<{ items: Invitation[]; nextCursor: string | null }> {
  const where = [of('i')];
  if (state !== undefined) where.push(sql.part`${stateNow} = ${state}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`i.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<InvitationRow>`select ${columns} from invitations i where ${sql.join(where, ' and ')}
       order by i.id desc limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toInvitation);
}

type Written = Omit<InvitationRow, 'state'> & { readonly state: Exclude<InvitationState, 'expired'> };

/** Expired is read, never written. */
const written = (row: InvitationRow): Written => ({
  ...row,
  state: row.state === 'expired' ? 'pending' : row.state,
});

const inserted = [...invitations.names, 'state'] as const;
const changing = [
  'email',
  'role',
  'team_ids',
  'project_ids',
  'state',
  'invited_by',
  'expires_at',
  'sends',
  'sent_at',
  'member_id',
  'updated_at',
  'version',
] as const;

export const insertInvitation = (row: InvitationRow): Query<unknown> =>
  sql.insert('invitations', inserted, written(row));

/** Writes what can change of a locked invitation. */
export const setInvitation = (row: InvitationRow): Query<unknown> =>
  sql`${sql.update('invitations', changing, written(row))} where ${of()} and id = ${row.id}`;

/** The secret that went out before cannot be used any more; the next e-mail brings another. */
export const forgetSecret = (id: string): Query<unknown> => setSecretHash(id, null);

export const setSecretHash = (id: string, secretHash: Buffer | null): Query<unknown> =>
  sql`update invitations set token_hash = ${secretHash} where ${of()} and id = ${id}`;
