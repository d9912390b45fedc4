/**
 * Turns a reply to a notification mail into a comment of the member to whom the mail was sent. The signed address names
 * the notification; the sender must have the member's address. The mail server in front of the worker has verified that
 * the sender's domain sent the mail (SPF, DKIM, DMARC).
 */
import { createHash } from 'node:crypto';
import { markCommentAsMailed, maxMailedCommentsPerHour, readMailedComments } from '@muster/board';
import { type Pool } from '@muster/driver';
import { findReplyableNotification, type ReplyableNotification } from '@muster/notifications';
import { type ParsedReplyAddress, type ReplyAddresses } from '@muster/outbound/reply-addresses';
import { ApiError, type Actor, CommentBody, registry } from '@muster/registry';
import { type HandlerEnvironment, runAsSystem } from '@muster/runtime';
import { inOrganizationAsSystem, systemAuditFacts } from '@muster/tenancy';
import PostalMime, { addressParser, type Email } from 'postal-mime';
import { replyTextOf } from './reply-text.ts';

/** A permanent refusal. The mail server of the sender reports its message to the sender. */
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

const unknownAddress = 'This address does not accept replies any more. Open the story in Muster to comment.';

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

/** Returns the address of the only sender. A mail with several could show another one than that which is checked. */
function senderOf(email: Email): string {
  const [sender, ...others] = valuesOf(email, 'from').flatMap((value) => addressParser(value));
  if (sender?.address === undefined || sender.address === '' || others.length > 0)
    throw new ReplyRefused('The mail must have exactly one sender.');
  return sender.address;
}

function bodyOf(email: Email): string {
  const text = replyTextOf(email.text ?? '');
  if (text === '')
    throw new ReplyRefused('The reply has no text. Write it above the quoted mail, as plain text.');
  const count = email.attachments.length;
  const note =
    count === 0
      ? ''
      : `\n\n_${count === 1 ? 'An attachment was' : `${count} attachments were`} not kept. Attach files in Muster._`;
  const parsed = CommentBody.safeParse(text + note);
  if (!parsed.success) throw new ReplyRefused('The reply is longer than 20,000 characters.', 552);
  return parsed.data;
}

/** Checks that the address was signed, and that its member sent the mail. Both refusals read the same. */
function requireRecipient(
  { addresses }: AcceptReplyOptions,
  address: ParsedReplyAddress,
  notification: ReplyableNotification | undefined,
  sender: string,
): ReplyableNotification {
  if (notification === undefined || !addresses.isSigned(notification.organizationKey, address))
    throw new ReplyRefused(unknownAddress);
  if (notification.email.toLowerCase() !== sender)
    throw new ReplyRefused('Reply from the address to which the notification was sent.');
  return notification;
}

/** Throws a ReplyRefused if the mail is refused permanently, and another error if it can be accepted later. */
export async function acceptReply(
  options: AcceptReplyOptions,
  address: ParsedReplyAddress,
  raw: Buffer,
): Promise<ReplyOutcome> {
  const email = await PostalMime.parse(raw, { maxNestingDepth: 20, maxHeadersSize: 256 * 1024 }).catch(() => {
    throw new ReplyRefused('The mail is malformed.');
  });
  if (isAutomatic(email)) return 'automatic';
  const sender = senderOf(email);
  if (options.mailFrom.toLowerCase().includes(sender)) return 'automatic';
  const mailKey = createHash('sha256')
    .update(`${address.notificationId} ${email.messageId ?? ''}`)
    .update(email.messageId === undefined ? raw : '')
    .digest('hex');
  const { pool, environment } = options;
  const { orgId } = address;
  return inOrganizationAsSystem(pool, orgId, async (db) => {
    const found = await findReplyableNotification(db, address.notificationId);
    const { memberId, memberName, storyId, projectId, commentId } = requireRecipient(
      options,
      address,
      found,
      sender,
    );
    const body = bodyOf(email);
    const { isRepeated, lastHour } = await readMailedComments(db, memberId, mailKey);
    if (isRepeated) return 'repeated';
    if (lastHour >= maxMailedCommentsPerHour)
      throw new ReplyRefused('Too many replies within an hour. Comment in Muster instead.');
    const actor: Actor = { kind: 'member', memberId, agentId: null, name: memberName };
    const facts = { ...systemAuditFacts('comments.create', storyId), userAgent: 'e-mail' };
    await runAsSystem({ db, orgId, actor, facts, memberId }, environment, async (perform) => {
      const { comment } = await perform(
        registry.comments.create,
        { id: storyId, projectId },
        { storyId, body, ...(commentId !== null && { parentId: commentId }) },
      );
      db.deferToCommit(markCommentAsMailed(comment.id, mailKey));
    });
    return 'commented';
  }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) throw new ReplyRefused(error.message);
    throw error;
  });
}
