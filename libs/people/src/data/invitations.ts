import {
  type DB,
  type Db,
  decodeCursor,
  pageOfRows,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
  Values,
} from '@muster/database';
import {
  type Invitation,
  type InvitationState,
  type ParamsOf,
  type Registry,
  type Subject,
} from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

/** An invitation as it is now: a pending one whose time is over is expired. */
export type InvitationRow = Omit<Selectable<DB['invitations']>, 'org_id' | 'token_hash' | 'state'> & {
  readonly state: InvitationState;
};

/** By the clock and not by the transaction's time, as the seats are: see seats.ts. */
const stateNow = `case when i.state = 'pending' and i.expires_at <= clock_timestamp() then 'expired' else i.state end`;

const columns = `i.id, i.email, i.role, i.team_ids, i.project_ids, ${stateNow} as state, i.invited_by, i.expires_at,
  i.member_id, i.created_at, i.updated_at, i.version`;

export const toInvitation = (row: InvitationRow): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role,
  teamIds: row.team_ids,
  projectIds: row.project_ids,
  state: row.state,
  invitedBy: row.invited_by,
  expiresAt: row.expires_at,
  memberId: row.member_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** What everybody may read of it; whom it is for is only for those who may invite. */
export const aboutInvitation = (
  { id, role }: Pick<InvitationRow, 'id' | 'role'>,
  title = `Invitation as ${role}`,
): Subject => ({ type: 'invitation', id, key: null, title, projectId: null });

/** Locks an invitation against other writers until this transaction ends; after the seats, where those are locked. */
export async function lockInvitation(db: Db, orgId: string, id: string): Promise<InvitationRow> {
  const row = await db.find(
    sqlQuery<InvitationRow>(
      `select ${columns} from invitations i where i.org_id = $1 and i.id = $2 for no key update`,
      [orgId, id],
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

/** The same by its secret, which may have been replaced since it was looked up at the door. */
export async function lockInvitationBySecret(
  db: Db,
  orgId: string,
  secretHash: Buffer,
): Promise<InvitationRow> {
  const row = await db.find(
    sqlQuery<InvitationRow>(
      `select ${columns} from invitations i where i.org_id = $1 and i.token_hash = $2 for no key update`,
      [orgId, secretHash],
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

/** Locks the invitation of this address, in any case, that is neither accepted nor revoked; there is at most one. */
export const lockOpenInvitation = (
  db: Db,
  orgId: string,
  email: string,
): Promise<InvitationRow | undefined> =>
  db.find(
    sqlQuery<InvitationRow>(
      `select ${columns} from invitations i
       where i.org_id = $1 and lower(i.email) = lower($2) and i.state = 'pending' for no key update`,
      [orgId, email],
    ),
  );

const Cursor = z.tuple([z.uuid()]);

/** A page of the organization's invitations, newest first. */
export async function listInvitations(
  db: Db,
  orgId: string,
  { state, limit, cursor }: ParamsOf<Registry['invitations']['list']>,
): Promise<{ items: Invitation[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const where = [`i.org_id = ${values.org}`];
  if (state !== undefined) where.push(`${stateNow} = ${values.$(state)}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(`i.id < ${values.uuid(after[0])}`);
  const rows = await db.all(
    sqlQuery<InvitationRow>(
      `select ${columns} from invitations i where ${where.join(' and ')}
       order by i.id desc limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.id], toInvitation);
}

type Written = Omit<InvitationRow, 'state'> & {
  readonly org_id: string;
  readonly state: Exclude<InvitationState, 'expired'>;
};

const insert = statement((param: Param<Written>) =>
  query.insertInto('invitations').values({
    org_id: param('org_id'),
    id: param('id'),
    email: param('email'),
    role: param('role'),
    team_ids: param('team_ids'),
    project_ids: param('project_ids'),
    state: param('state'),
    invited_by: param('invited_by'),
    expires_at: param('expires_at'),
    created_at: param('created_at'),
    updated_at: param('updated_at'),
  }),
);

const update = statement((param: Param<Written>) =>
  query
    .updateTable('invitations')
    .set({
      email: param('email'),
      role: param('role'),
      team_ids: param('team_ids'),
      project_ids: param('project_ids'),
      state: param('state'),
      invited_by: param('invited_by'),
      expires_at: param('expires_at'),
      member_id: param('member_id'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('org_id', '=', param('org_id'))
    .where('id', '=', param('id')),
);

/** Expired is read, never written. */
const written = (orgId: string, row: InvitationRow): Written => ({
  ...row,
  org_id: orgId,
  state: row.state === 'expired' ? 'pending' : row.state,
});

export const insertInvitation = (orgId: string, row: InvitationRow): Query<unknown> =>
  insert(written(orgId, row));

/** Writes what can change of a locked invitation. */
export const setInvitation = (orgId: string, row: InvitationRow): Query<unknown> =>
  update(written(orgId, row));

/** Whoever has the secret that went out before cannot use it any more; the next e-mail brings another. */
export const forgetSecret = (orgId: string, id: string): Query<unknown> => setSecretHash(orgId, id, null);

export const setSecretHash = (orgId: string, id: string, secretHash: Buffer | null): Query<unknown> =>
  query
    .updateTable('invitations')
    .set({ token_hash: secretHash })
    .where('org_id', '=', orgId)
    .where('id', '=', id);
