/**
 * Jobs that send messages. Each message has its own outbox row, so that a failed one does not repeat others.
 */
import { createHash } from 'node:crypto';
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Rate } from '@muster/http';
import { type PayloadOf } from '@muster/jobs';
import {
  deviceSecretOwner,
  prepareChatMail,
  prepareDomainMail,
  prepareInvitationMail,
  preparePasskeyMail,
  prepareTokenMail,
} from '@muster/organizations';
import {
  bundleNotification,
  consoleStoryLink,
  consoleUrlOf,
  type NotifiedQuestion,
  prepareDigest,
  prepareNotification,
  type PreparedPush,
} from '@muster/notifications';
import { type SecretCipher } from '@muster/outbound';
import { type ChatMessage, sendChatMessage } from '@muster/outbound/chat';
import { type Mail, type Mailer } from '@muster/outbound/mail';
import { type ReplyAddresses } from '@muster/outbound/reply-addresses';
import { type Sender } from '@muster/outbound/sender';
import { type SlackAnswer, type SlackTokens } from '@muster/outbound/slack';
import { isChatService } from '@muster/contract';
import { getOrganizationKey, outboxRow } from '@muster/tenancy';
import { type BatchWorker, type RowWorker } from './perform.ts';
import { type Pusher } from './push.ts';
import { replyMarker } from './replies/reply-text.ts';

export interface DeliveryChannels {
  readonly mailer: Mailer;
  /** Sends push messages; undefined if the installation has no keys for web push. */
  readonly pusher: Pusher | undefined;
  /** Sends messages to chat channels. It must not reach private networks, because any member names addresses. */
  readonly chatSender: Sender;
  /** Signs the addresses for replies to notification mails; undefined if the worker accepts none. */
  readonly replyAddresses?: ReplyAddresses | undefined;
  /** Decrypts the URLs of chat channels. */
  readonly seals: SecretCipher;
  /** Signs the answer buttons of questions in Slack; undefined if no Slack app is configured. */
  readonly slackTokens?: SlackTokens | undefined;
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

export const mailChat = createMailWorker<PayloadOf<'chat.mail'>>((db, payload, { baseUrl }) =>
  prepareChatMail(db, { ...payload, baseUrl }),
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
    for (const { platform, token } of delivery.push?.devices ?? []) {
      if (pusher === undefined && !isChatService(platform)) continue;
      const device = deviceFingerprintOf(token);
      db.deferToCommit(outboxRow('notification.push', { notificationId, device }, sendsAt));
    }
  };

/**
 * Prepares the e-mail again, because the notification may have been read or the member may have turned it
 * off.
 */
export const mailNotification = (
  channels: Pick<DeliveryChannels, 'mailer' | 'baseUrl' | 'replyAddresses'>,
): RowWorker<PayloadOf<'notification.mail'>> =>
  createMailWorker<PayloadOf<'notification.mail'>>(async (db, { notificationId }, { orgId }) => {
    const email = (await prepareNotification(db, notificationId))?.email;
    if (email === undefined) return null;
    const { isReplyable, ...mail } = email;
    if (channels.replyAddresses === undefined || !isReplyable) return mail;
    const replyTo = channels.replyAddresses.addressOf(await getOrganizationKey(db), {
      orgId,
      notificationId,
    });
    return { ...mail, text: `${replyMarker}\n\n${mail.text}`, replyTo };
  })(channels);

const toChatMessage = ({ title, text, storyKey }: PreparedPush, baseUrl: string): ChatMessage => {
  const consoleUrl = consoleUrlOf(baseUrl);
  return {
    ...{ title, text },
    link: storyKey === null ? `${consoleUrl}/inbox` : consoleStoryLink(consoleUrl, storyKey),
  };
};

/** Adds the text of the question, and buttons that answer it. */
const withAnswers = (
  message: ChatMessage,
  { id: questionId, body, options }: NotifiedQuestion,
  valueOf: (answer: Omit<SlackAnswer, 'orgId'>) => string,
): ChatMessage => ({
  ...message,
  text: body,
  answers: options.map((label, option) => ({ label, value: valueOf({ questionId, option }) })),
});

export const pushNotification =
  ({
    pusher,
    chatSender,
    seals,
    slackTokens,
    baseUrl,
  }: Omit<DeliveryChannels, 'mailer' | 'messageRate'>): RowWorker<PayloadOf<'notification.push'>> =>
  async ({ db, orgId, payload: { notificationId, device: fingerprint } }) => {
    const push = (await prepareNotification(db, notificationId))?.push;
    const device = push?.devices.find(({ token }) => deviceFingerprintOf(token) === fingerprint);
    if (push === undefined || device === undefined) return undefined;
    const { id, platform, token } = device;
    const forget = (later: Db): Promise<void> => removePushToken(later, token);
    if (isChatService(platform)) {
      const organizationKey = await getOrganizationKey(db);
      const url = seals.decrypt(deviceSecretOwner(organizationKey, id), Buffer.from(token, 'base64'));
      // An operator can restore the key, so the channel is kept.
      if (url === undefined) return undefined;
      const plain = toChatMessage(push, baseUrl);
      const message =
        platform === 'slack' && slackTokens !== undefined && push.question !== null
          ? withAnswers(plain, push.question, (answer) =>
              slackTokens.valueOf(organizationKey, { orgId, ...answer }),
            )
          : plain;
      return async () => {
        const outcome = await sendChatMessage(chatSender, platform, url, message);
        return outcome === 'gone' ? forget : undefined;
      };
    }
    if (pusher === undefined) return undefined;
    const { title, body } = push;
    return async () => {
      const outcome = await pusher.send({ subscription: token, payload: { notificationId, title, body } });
      return outcome === 'gone' ? forget : undefined;
    };
  };

/** Removes the device's push token. The device stays and can register a new one. */
export async function removePushToken(db: Db, token: string): Promise<void> {
  db.deferToCommit(
    sql`update devices set push_token = null
      where ${orgFilter()} and md5(push_token) = md5(${token}) and push_token = ${token}`,
  );
}
