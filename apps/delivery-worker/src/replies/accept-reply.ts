/**
 * Turns a reply to a notification mail into a comment of the member to whom the mail was sent. The signed address names
 * the notification; the sender must have the member's address. The mail server in front of the worker has verified that
 * the sender's domain sent the mail (SPF, DKIM, DMARC).
 */
import { createHash } from 'node:crypto';
import { markCommentAsSent, maxMailedCommentsPerHour, readMailedComments } from '@muster/board';
import { type Db, type Pool } from '@muster/driver';
import {
  findReplyableNotification,
  type ReplyableNotification,
  replyValidityDays,
} from '@muster/notifications';
import { type ParsedReplyAddress, type ReplyAddresses } from '@muster/outbound/reply-addresses';
import { ApiError, type Actor, CommentBody } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { type HandlerEnvironment, runAsSystem } from '@muster/runtime';
import { inOrganizationAsSystem, systemAuditFacts } from '@muster/tenancy';
import PostalMime, { addressParser, type Attachment, decodeWords, type Email } from 'postal-mime';
import { replyTextOf } from './reply-text.ts';

/** A refusal. The sender's mail server reports its message, or tries again if the code is below 500. */
export class ReplyRefused extends Error {
  readonly responseCode: number;

  constructor(message: string, responseCode = 550) {
    super(message);
    this.name = 'ReplyRefused';
    this.responseCode = responseCode;
  }
}

export type ReplyOutcome =
  | 'commented'
  /** The mail was delivered before. */
  | 'repeated'
  /** A program sent the mail. No answer is sent to it, because it could answer again. */
  | 'automatic';

export interface AcceptReplyOptions {
  readonly pool: Pool;
  readonly environment: HandlerEnvironment;
  readonly addresses: ReplyAddresses;
  /** The sender of notification mails, with or without a name. */
  readonly mailFrom: string;
}

/** Does not tell whether the address is signed for another sender. */
const refusalMessage = `Reply within ${replyValidityDays} days from the address that got the notification, or open the story in Muster to comment.`;

const valuesOf = ({ headers }: Email, name: string): string[] =>
  headers.filter(({ key }) => key === name).map(({ value }) => value.trim().toLowerCase());

/** Returns true for mails that programs send by themselves, as RFC 3834 describes them. */
function isAutomatic(email: Email): boolean {
  if (valuesOf(email, 'auto-submitted').some((value) => !/^no\b/.test(value))) return true;
  if (valuesOf(email, 'precedence').some((value) => /^(bulk|junk|list|auto_reply)/.test(value))) return true;
  if (valuesOf(email, 'content-type').some((value) => value.startsWith('multipart/report'))) return true;
  return ['list-id', 'x-autoreply', 'x-autorespond', 'x-loop'].some(
    (name) => valuesOf(email, name).length > 0,
  );
}

const addressPattern = String.raw`[^\s"<>@,;:()[\]\\]+@[^\s"<>@,;:()[\]\\]+`;
/**
 * The forms of a From header that every mail program reads the same way: an address, or a name with an address in angle
 * brackets. Others could name another sender to the server that verified the mail than to this worker.
 */
const senderPattern = new RegExp(
  String.raw`^(?:(?:"(?<quoted>[^"<>\\\p{Cc}]*)"\s*|(?<plain>[^"<>@,;:()\\\p{Cc}]*))<(?<named>${addressPattern})>|(?<bare>${addressPattern}))$`,
  'u',
);

/** Returns the address of the only sender. Its name may contain an address only if both are the same. */
function senderOf({ headers }: Email): string {
  const [from, ...others] = headers.filter(({ key }) => key === 'from');
  const { quoted, plain, named, bare } = senderPattern.exec(from?.value ?? '')?.groups ?? {};
  const address = (named ?? bare)?.toLowerCase();
  const name = decodeWords(quoted ?? plain ?? '')
    .trim()
    .toLowerCase();
  if (address === undefined || others.length > 0 || (/[@<>]/.test(name) && name !== address))
    throw new ReplyRefused('The mail must have exactly one sender, such as Ana <ana@example.com>.');
  return address;
}

function bodyOf(email: Email): string {
  const text = replyTextOf(email.text ?? '');
  if (text === '')
    throw new ReplyRefused('The reply has no text. Write it above the quoted mail, as plain text.');
  const count = email.attachments.filter((attachment) => !isFormattedText(attachment)).length;
  const note =
    count === 0
      ? ''
      : `\n\n_${count === 1 ? 'An attachment was' : `${count} attachments were`} not kept. Attach files in Muster._`;
  const parsed = CommentBody.safeParse(text + note);
  if (!parsed.success) throw new ReplyRefused('The reply is longer than 20,000 characters.', 552);
  return parsed.data;
}

/** Finds the notification that the address names. Throws a ReplyRefused if the address is not signed. */
async function findSignedNotification(
  { addresses }: AcceptReplyOptions,
  address: ParsedReplyAddress,
  db: Db,
): Promise<ReplyableNotification> {
  const notification = await findReplyableNotification(db, address.notificationId);
  if (notification === undefined || !addresses.isSigned(notification.organizationKey, address))
    throw new ReplyRefused(refusalMessage);
  return notification;
}

/** Throws a ReplyRefused if the address does not accept replies. The mail is received and parsed only if it does. */
export async function requireReplyAddress(
  options: AcceptReplyOptions,
  address: ParsedReplyAddress,
): Promise<void> {
  await inOrganizationAsSystem(options.pool, address.orgId, (db) =>
    findSignedNotification(options, address, db),
  );
}

/** The time to parse a mail grows faster than the number of its lines. */
const maxMailLines = 4_000;

const isFormattedText = ({ mimeType, disposition }: Pick<Attachment, 'mimeType' | 'disposition'>): boolean =>
  mimeType === 'text/html' && disposition !== 'attachment';

/** Does not convert HTML to text, because the conversion takes seconds for some mails. */
class PlainTextParser extends PostalMime {
  isInlineTextNode(
    node: Record<'contentType' | 'contentDisposition', { parsed: { value: string } }>,
  ): boolean {
    return (
      node.contentType.parsed.value === 'text/plain' && node.contentDisposition.parsed.value !== 'attachment'
    );
  }
}

async function parseMail(raw: Buffer): Promise<Email> {
  if (raw.toString('latin1').split('\n', maxMailLines + 1).length > maxMailLines)
    throw new ReplyRefused(
      'The mail has more than 4,000 lines. Remove the quoted mails and attachments.',
      552,
    );
  const limits = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024 };
  return new PlainTextParser({ ...limits, forceRfc822Attachments: true }).parse(raw).catch(() => {
    throw new ReplyRefused('The mail is malformed.');
  });
}

/** Throws a ReplyRefused if the mail is refused, and another error if it can be accepted later. */
export async function acceptReply(
  options: AcceptReplyOptions,
  address: ParsedReplyAddress,
  raw: Buffer,
): Promise<ReplyOutcome> {
  const email = await parseMail(raw);
  if (isAutomatic(email)) return 'automatic';
  const sender = senderOf(email);
  if (addressParser(options.mailFrom).some(({ address: own }) => own?.toLowerCase() === sender))
    return 'automatic';
  const mailKey = createHash('sha256')
    .update(`${address.notificationId} ${email.messageId ?? ''}`)
    .update(email.messageId === undefined ? raw : '')
    .digest('hex');
  const { pool, environment } = options;
  const { orgId } = address;
  return inOrganizationAsSystem(pool, orgId, async (db) => {
    const notification = await findSignedNotification(options, address, db);
    if (notification.email.toLowerCase() !== sender) throw new ReplyRefused(refusalMessage);
    const { memberId, memberName, storyId, projectId, commentId } = notification;
    const body = bodyOf(email);
    const { isRepeated, lastHour } = await readMailedComments(db, memberId, mailKey, replyValidityDays);
    if (isRepeated) return 'repeated';
    if (lastHour >= maxMailedCommentsPerHour)
      throw new ReplyRefused('Too many replies within an hour. Comment in Muster instead.', 451);
    const actor: Actor = { kind: 'member', memberId, agentId: null, name: memberName };
    const facts = { ...systemAuditFacts('comments.create', storyId), userAgent: 'e-mail' };
    await runAsSystem({ db, orgId, actor, facts, memberId }, environment, async (perform) => {
      const { comment } = await perform(
        boardRegistry.comments.create,
        { id: storyId, projectId },
        { storyId, body, ...(commentId !== null && { parentId: commentId }) },
      );
      db.deferToCommit(markCommentAsSent(comment.id, 'email', mailKey));
    });
    return 'commented';
  }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) throw new ReplyRefused(error.message);
    throw error;
  });
}
