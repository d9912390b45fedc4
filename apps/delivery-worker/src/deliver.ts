/**
 * Jobs that send messages. Each message has its own outbox row, so that a failed one does not repeat others.
 */
import { createHash } from 'node:crypto';
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Rate } from '@muster/http';
import { type PayloadOf } from '@muster/jobs';
import {
  prepareDomainMail,
  prepareInvitationMail,
  preparePasskeyMail,
  prepareTokenMail,
} from '@muster/organizations';
import { bundleNotification, prepareDigest, prepareNotification } from '@muster/notifications';
import { type Mail, type Mailer } from '@muster/outbound/mail';
import { outboxRow } from '@muster/tenancy';
import { type BatchWorker, type RowWorker } from './perform.ts';
import { type Pusher } from './push.ts';

export interface DeliveryChannels {
  readonly mailer: Mailer;
  /** Sends push messages; undefined if the installation has no keys for web push. */
  readonly pusher: Pusher | undefined;
  readonly baseUrl: string;
  /**
   * Limit of the mails and pushes that a member gets about one other member's actions; further ones are
   * bundled.
   */
  readonly messageRate: Rate;
}

/** Identifies a device in the outbox by a hash, because its token is a secret. */
const deviceFingerprintOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Creates a worker that sends the e-mail prepared for a row. If `prepare` returns null, there is no longer
 * anything to send.
 */
const createMailWorker =
  <Payload>(
    prepare: (
      db: Db,
      payload: Payload,
      facts: { readonly orgId: string; readonly baseUrl: string },
    ) => Promise<Mail | null>,
  ) =>
  ({ mailer, baseUrl }: Pick<DeliveryChannels, 'mailer' | 'baseUrl'>): RowWorker<Payload> =>
  async ({ db, orgId, rowId, payload }) => {
    const mail = await prepare(db, payload, { orgId, baseUrl });
    if (mail === null) return undefined;
    return async () => {
      await mailer.send(mail, rowId);
      return undefined;
    };
  };

export const mailInvitation = createMailWorker<PayloadOf<'invitation.mail'>>(
  (db, { invitationId }, { orgId, baseUrl }) => prepareInvitationMail(db, { orgId, invitationId, baseUrl }),
);

export const mailTokenExpiry = createMailWorker<PayloadOf<'token.mail'>>((db, { tokenId }) =>
  prepareTokenMail(db, tokenId),
);

export const mailDigest = createMailWorker<PayloadOf<'digest.mail'>>((db, period, { baseUrl }) =>
  prepareDigest(db, period, baseUrl),
);

export const mailPasskey = createMailWorker<PayloadOf<'passkey.mail'>>((db, payload, { baseUrl }) =>
  preparePasskeyMail(db, { ...payload, baseUrl }),
);

export const mailMissingDomain = createMailWorker<PayloadOf<'domain.mail'>>((db, payload) =>
  prepareDomainMail(db, payload),
);

export const deliverNotification =
  ({
    pusher,
    messageRate,
  }: Pick<DeliveryChannels, 'pusher' | 'messageRate'>): BatchWorker<PayloadOf<'notification.deliver'>> =>
  async ({ db, payload: { notificationId } }) => {
    const delivery = await prepareNotification(db, notificationId);
    if (delivery === null) return;
    const { isLeading, sendsAt } = await bundleNotification(db, notificationId, messageRate);
    if (!isLeading) return;
    if (delivery.email !== undefined)
      db.deferToCommit(outboxRow('notification.mail', { notificationId }, sendsAt));
    if (pusher === undefined) return;
    for (const token of delivery.push?.tokens ?? []) {
      const device = deviceFingerprintOf(token);
      db.deferToCommit(outboxRow('notification.push', { notificationId, device }, sendsAt));
    }
  };

/**
 * Prepares the e-mail again, because the notification may have been read or the member may have turned it
 * off.
 */
export const mailNotification = createMailWorker<PayloadOf<'notification.mail'>>(
  async (db, { notificationId }) => (await prepareNotification(db, notificationId))?.email ?? null,
);

export const pushNotification =
  ({ pusher }: Pick<DeliveryChannels, 'pusher'>): RowWorker<PayloadOf<'notification.push'>> =>
  async ({ db, payload: { notificationId, device } }) => {
    const push = (await prepareNotification(db, notificationId))?.push;
    const token = push?.tokens.find((candidate) => deviceFingerprintOf(candidate) === device);
    if (pusher === undefined || push === undefined || token === undefined) return undefined;
    const { title, body } = push;
    return async () => {
      const outcome = await pusher.send({ subscription: token, payload: { notificationId, title, body } });
      return outcome === 'gone' ? (later) => removePushToken(later, token) : undefined;
    };
  };

/** Removes the device's push token. The device stays and can register a new one. */
export async function removePushToken(db: Db, token: string): Promise<void> {
  db.deferToCommit(
    sql`update devices set push_token = null
      where ${orgFilter()} and md5(push_token) = md5(${token}) and push_token = ${token}`,
  );
}
