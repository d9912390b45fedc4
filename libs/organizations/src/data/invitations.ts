import {
  CursorId,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfRows,
  type Query,
  type RowOf,
  sql,
  defineView,
} from '@muster/driver';
import { type Invitation, type InvitationState, type ParamsOf, type Subject } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { z } from 'zod';
import { type SentMails } from '../rules/invitation-sends.ts';
import { invitationValidityDays } from '../rules/invitation-states.ts';

/** The columns of an invitation without its state, which needs an expression. */
const invitations = defineView(
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
/** An invitation in its current state: a pending one is expired after its expiry time. */
export type InvitationRow = RowOf<typeof invitations> & { readonly state: InvitationState };

/**
 * The current state of an invitation. It uses the clock instead of the transaction's start time, for the
 * reason given in seats.ts.
 */
const currentStateSql = sql.part`case when i.state = 'pending' and i.expires_at <= clock_timestamp() then 'expired' else i.state end`;

const invitationColumns = sql.part`${invitations.list}, ${currentStateSql} as state`;

export const toInvitation = (row: InvitationRow): Invitation => ({
  ...invitations.shown(row),
  state: row.state,
});

/**
 * Returns the subject of an event about the invitation. Every member may read events, so it does not contain the
 * e-mail address, which only those who may invite can see.
 */
export const toInvitationEventSubject = (
  { id, role }: Pick<InvitationRow, 'id' | 'role'>,
  title = `Invitation as ${role}`,
): Subject => ({ type: 'invitation', id, key: null, title, projectId: null });

/**
 * Locks an invitation against other writers until this transaction ends. If the seats are locked too, lock
 * them first.
 */
export function lockInvitation(db: Db, id: string): Promise<InvitationRow> {
  return db.get(
    sql<InvitationRow>`select ${invitationColumns} from invitations i where ${orgFilter('i')} and i.id = ${id} for no key update`,
  );
}

/**
 * Locks an invitation by its secret. The secret may have been replaced since the authorization check looked
 * it up.
 */
export function lockInvitationBySecret(db: Db, secretHash: Buffer): Promise<InvitationRow> {
  return db.get(
    sql<InvitationRow>`select ${invitationColumns} from invitations i where ${orgFilter('i')} and i.token_hash = ${secretHash} for no key update`,
  );
}

/**
 * Locks the invitation of this address that is neither accepted nor revoked. Upper and lower case are equal. There
 * is at most one such invitation.
 */
export const lockOpenInvitation = (db: Db, email: string): Promise<InvitationRow | undefined> =>
  db.find(
    sql<InvitationRow>`select ${invitationColumns} from invitations i
       where ${orgFilter('i')} and lower(i.email) = lower(${email}) and i.state = 'pending' for no key update`,
  );

/**
 * Counts the e-mails of all invitations sent to an address within the last `invitationValidityDays`. Upper and lower
 * case are equal.
 */
const countSendsQuery = (address: unknown): Query<SentMails> =>
  sql<SentMails>`select coalesce(sum(i.sends), 0)::int as count, max(i.sent_at) as last from invitations i
     where ${orgFilter('i')} and lower(i.email) = lower(${address})
       and i.sent_at > now() - make_interval(days => ${sql.literal(invitationValidityDays)})`;
export const getSendsToAddress = (db: Db, email: string): Promise<SentMails> =>
  db.one(countSendsQuery(sql.part`${email}::text`));
export const getSendsOfInvitation = (db: Db, invitationId: string): Promise<SentMails> =>
  db.one(
    countSendsQuery(
      sql.part`(select o.email from invitations o where ${orgFilter('o')} and o.id = ${invitationId})`,
    ),
  );

const Cursor = z.tuple([CursorId]);

/** Lists the organization's invitations in pages, newest first. */
export async function listInvitations(
  db: Db,
  { state, limit, cursor }: ParamsOf<OrganizationsRegistry['invitations']['list']>,
): Promise<{ items: Invitation[]; nextCursor: string | null }> {
  const where = [orgFilter('i')];
  if (state !== undefined) where.push(sql.part`${currentStateSql} = ${state}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`i.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<InvitationRow>`select ${invitationColumns} from invitations i where ${sql.join(where, ' and ')}
       order by i.id desc limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toInvitation);
}

type StoredInvitationRow = Omit<InvitationRow, 'state'> & {
  readonly state: Exclude<InvitationState, 'expired'>;
};

/** Converts an invitation's row for storage. The state `expired` is computed and never stored. */
const toStoredInvitationRow = (row: InvitationRow): StoredInvitationRow => ({
  ...row,
  state: row.state === 'expired' ? 'pending' : row.state,
});

const insertedColumns = [...invitations.names, 'state'] as const;
const changeableColumns = [
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
  sql.insert('invitations', insertedColumns, toStoredInvitationRow(row));

/** Writes the changeable columns of a locked invitation. */
export const updateInvitation = (row: InvitationRow): Query<unknown> =>
  sql`${sql.update('invitations', changeableColumns, toStoredInvitationRow(row))} where ${orgFilter()} and id = ${row.id}`;

/** Invalidates the secret of earlier e-mails. The next e-mail contains a new one. */
export const clearInvitationSecret = (id: string): Query<unknown> => setInvitationSecretHash(id, null);

export const setInvitationSecretHash = (id: string, secretHash: Buffer | null): Query<unknown> =>
  sql`update invitations set token_hash = ${secretHash} where ${orgFilter()} and id = ${id}`;
