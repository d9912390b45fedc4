/** Webhook endpoints as they are stored, and the rights to manage them. */
import {
  CursorId,
  type Db,
  decodeCursor,
  orgFilter,
  type Page,
  pageOfRows,
  type Part,
  type Query,
  defineRecord,
  requireVersion,
  type RowOf,
  sql,
} from '@muster/driver';
import { type SecretCipher } from '@muster/outbound';
import {
  badRequest,
  isAuditKind,
  notFound,
  type ParamsOf,
  leadRank,
  type Subject,
  type Webhook,
  type WebhookFormat,
} from '@muster/contract';
import { type NotificationsRegistry } from '@muster/notifications-registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { webhookSecretOwner } from '../rules/webhook-secrets.ts';
import { getCachedOrganizationKey } from './event-cursors.ts';
import { isAdminSql } from './visible.ts';

/** The maximum number of endpoints of an organization. */
export const maxWebhooks = 50;

export const webhooks = defineRecord('webhooks', 'w', {
  project_id: {},
  url: { set: true },
  kinds: { set: true },
  send_order: { set: true },
  format: { initial: 'standard' },
  description: { set: true, emptyValue: '' },
  secret: { hidden: true },
  previous_secret: { hidden: true, initial: null },
  previous_until: { hidden: true, initial: null },
  maker_id: { hidden: true },
  made_by: {},
  paused_at: { initial: null },
  paused_reason: { initial: null },
  cursor_seq: { hidden: true },
  audit_cursor_seq: { hidden: true, initial: null },
  next_at: { hidden: true, initial: null },
  failing: { initial: 0 },
  last_success_at: { initial: null },
  last_failure_at: { initial: null },
});
export type WebhookRow = RowOf<typeof webhooks>;

/** The row of an endpoint with values computed from its deliveries. */
interface WebhookWithLag extends WebhookRow {
  readonly lag: number;
}

/**
 * The row of an endpoint with the rank of the caller's role in its project. The rank is null if the endpoint
 * has no project that the caller may see.
 */
export interface ManagedWebhook extends WebhookWithLag {
  readonly callerRank: number | null;
}

export function toWebhook(row: WebhookWithLag): Webhook {
  const { sendOrder: order, pausedAt, ...shown } = webhooks.shown(row);
  return { ...shown, order, pausedAt, state: pausedAt === null ? 'active' : 'paused', lag: row.lag };
}

/**
 * Returns the subject of an event about the endpoint. Only the host of its URL is shown, because the rest may be
 * a secret.
 */
export const webhookSubject = ({
  id,
  url,
  project_id: projectId,
}: Pick<WebhookRow, 'id' | 'url' | 'project_id'>): Subject => ({
  type: 'webhook',
  id,
  key: null,
  title: new URL(url).host,
  projectId,
});

/** Returns the URL of a webhook of a chat service as it is stored and shown: only its host, because the rest is a secret. */
export const hostOnlyUrl = (url: string): string => `${new URL(url).origin}/…`;

/** The age in seconds of the oldest undelivered event; tests are not counted. */
const lagSecondsSql = sql.part`coalesce((select greatest(0, floor(extract(epoch from now() - d.event_at)))::int from webhook_deliveries d
  where ${orgFilter('d')} and d.webhook_id = w.id and d.state = 'pending' and d.seq is not null order by d.seq limit 1), 0)`;

const callerRankSql = (caller: Caller): Part =>
  sql.part`(select v.project_rank from ${projectsVisibleTo(caller)} v where v.project_id = w.project_id)`;

const managedWebhookQuery = (caller: Caller, id: Part): Query<ManagedWebhook> =>
  sql<ManagedWebhook>`select ${webhooks.list}, ${lagSecondsSql} as lag, ${callerRankSql(caller)} as "callerRank"
    from webhooks w where ${orgFilter('w')} and w.deleted_at is null and w.id = ${id}`;

/**
 * Throws unless audit entries may be sent to an endpoint of this project: 403 for a caller who is no admin,
 * 400 for an endpoint of a project or of a chat service.
 */
export async function requireAuditAllowed(
  requireGround: RequireGround,
  projectId: string | null,
  kinds: readonly string[],
  format: WebhookFormat = 'standard',
): Promise<void> {
  if (!kinds.some(isAuditKind)) return;
  await requireGround();
  if (format !== 'standard')
    throw badRequest('A webhook of a chat service cannot receive audit entries.', [
      { path: 'kinds', message: 'may have audit kinds only with the format standard' },
    ]);
  if (projectId !== null)
    throw badRequest('A webhook of a project cannot receive audit entries.', [
      {
        path: 'kinds',
        message: 'may have audit kinds only in a webhook of the organization, without projectId',
      },
    ]);
}

type RequireGround = (...grounds: ('projectLead' | false)[]) => Promise<void>;

/**
 * Throws 404 if the caller may not see the endpoint's project. Throws 403 unless the caller is a lead of the
 * project or an admin.
 */
async function requireManager(
  requireGround: RequireGround,
  { project_id: projectId, callerRank: rank }: Pick<ManagedWebhook, 'project_id' | 'callerRank'>,
): Promise<void> {
  if (projectId !== null && rank === null) throw notFound();
  await requireGround(projectId !== null && (rank ?? 0) >= leadRank && 'projectLead');
}

/** The part of a handler's context that the functions about endpoints need. */
interface WebhookContext {
  readonly db: Db;
  readonly caller: Caller;
  readonly requireGround: RequireGround;
}

export async function getWebhook(
  { db, caller, requireGround }: WebhookContext,
  id: string,
): Promise<ManagedWebhook> {
  const row = await db.get(managedWebhookQuery(caller, sql.part`${id}::uuid`));
  await requireManager(requireGround, row);
  return row;
}

/**
 * Locks an endpoint against other writers, including the worker. Throws 409 if another version is expected.
 */
export async function lockWebhook(
  { db, caller, requireGround }: WebhookContext,
  id: string,
  expectedVersion?: number,
): Promise<ManagedWebhook> {
  const row = await db.get(
    sql<ManagedWebhook>`${managedWebhookQuery(caller, sql.part`${id}::uuid`)} for no key update of w`,
  );
  await requireManager(requireGround, row);
  requireVersion(row, expectedVersion);
  return row;
}

/** Locks the endpoint of a delivery, for callers who may manage it. */
export async function lockWebhookOfDelivery(
  context: WebhookContext,
  deliveryId: string,
): Promise<ManagedWebhook> {
  const { db } = context;
  const { webhook_id: id } = await db.get(
    sql<{
      webhook_id: string;
    }>`select d.webhook_id from webhook_deliveries d where ${orgFilter('d')} and d.id = ${deliveryId}`,
  );
  return lockWebhook(context, id);
}

/** Serializes calls that create endpoints, so that they cannot exceed the limit. */
export const lockWebhookCreation = (db: Db, orgId: string): Promise<unknown> =>
  db.all(sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${orgId}`}::text, 0))`);

export const countWebhooks = async (db: Db): Promise<number> =>
  (
    await db.one(
      sql<{
        count: number;
      }>`select count(*) from webhooks w where ${orgFilter('w')} and w.deleted_at is null`,
    )
  ).count;

/** Returns the current positions of the activity and the audit. A new endpoint receives what follows them. */
export const getStreamPositions = (db: Db): Promise<{ readonly activity: number; readonly audit: number }> =>
  db.one(
    sql<{
      activity: number;
      audit: number;
    }>`select s.activity, s.audit from streams s where ${orgFilter('s')}`,
  );

/**
 * Adds the secret to a stored answer again. The secret is empty if it was rotated since, if the endpoint was
 * deleted, or if no configured key decrypts it.
 */
export async function withStoredSecret<
  Kept extends { readonly webhook: Pick<Webhook, 'id' | 'version' | 'format'> },
>(db: Db, { orgId }: Caller, storedAnswer: Kept, seals: SecretCipher): Promise<Kept & { secret: string }> {
  const { id, version, format } = storedAnswer.webhook;
  // The secret of a webhook of a chat service is its URL.
  if (format !== 'standard') return { ...storedAnswer, secret: '' };
  const [organizationKey, row] = await Promise.all([
    getCachedOrganizationKey(db, orgId),
    db.find(
      sql<Pick<WebhookRow, 'secret'>>`select w.secret from webhooks w
        where ${orgFilter('w')} and w.deleted_at is null and w.id = ${id} and w.version = ${version}`,
    ),
  ]);
  return {
    ...storedAnswer,
    secret: (row && seals.decrypt(webhookSecretOwner(organizationKey, id), row.secret)) ?? '',
  };
}

/**
 * Marks an endpoint as deleted and removes its secrets immediately. The worker deletes the remaining data.
 */
export const deleteWebhook = (id: string): Query<unknown> =>
  sql`update webhooks set deleted_at = now(), next_at = null, secret = '', previous_secret = null, previous_until = null
     where ${orgFilter()} and id = ${id}`;

/** Makes the endpoint due, so that a worker takes it immediately. */
export const makeWebhookDue = (id: string): Query<unknown> =>
  sql`update webhooks set next_at = now() where ${orgFilter()} and id = ${id}`;

/**
 * The condition that the creator of the endpoint `w` is still a member and, if it receives audit entries, an
 * admin.
 */
export const isMakerEntitledSql = sql.part`exists (select from members m
  where ${orgFilter('m')} and m.id = w.maker_id and m.status = 'active'
    and (w.audit_cursor_seq is null or m.role in ('owner', 'admin')))`;

export const isMakerEntitled = async (db: Db, id: string): Promise<boolean> =>
  (
    await db.one(
      sql<{ entitled: boolean }>`select ${isMakerEntitledSql} as entitled from webhooks w
        where ${orgFilter('w')} and w.id = ${id}`,
    )
  ).entitled;

/** Returns the current position of the audit, and whether this member is an admin. */
export const getAuditStart = (
  db: Db,
  makerId: string,
): Promise<{ readonly audit: number; readonly isMakerAdmin: boolean }> =>
  db.one(
    sql<{
      audit: number;
      isMakerAdmin: boolean;
    }>`select s.audit, ${isAdminSql(sql.part`${makerId}::uuid`)} as "isMakerAdmin"
      from streams s where ${orgFilter('s')}`,
  );

const Cursor = z.tuple([CursorId]);

/** Lists endpoints in pages, oldest first. */
export async function listWebhooks(
  db: Db,
  { projectId, limit, cursor }: ParamsOf<NotificationsRegistry['webhooks']['list']>,
): Promise<Page<Webhook>> {
  const where = [orgFilter('w'), sql.part`w.deleted_at is null`];
  // Endpoints of deleted projects are left out.
  where.push(
    projectId === undefined
      ? sql.part`(w.project_id is null or exists (select from projects p where ${orgFilter('p')} and p.id = w.project_id))`
      : sql.part`w.project_id = ${projectIdSql(projectId)}`,
  );
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`w.id > ${after[0]}::uuid`);
  const rows = await db.all(
    sql<WebhookWithLag>`select ${webhooks.list}, ${lagSecondsSql} as lag from webhooks w
      where ${sql.join(where, ' and ')} order by w.id limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toWebhook);
}
