/**
 * Answers from Slack: requests that Slack signed, the values of buttons, and the links with which members connect their
 * Slack accounts. Values and links are signed, because anyone who has the URL of an incoming webhook can post buttons.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isUuid, parseUntrustedJson } from '@muster/contract';
import { z } from 'zod';
import { chatHeaders, isTransientFailure, slackHosts } from './chat.ts';
import { type Sender } from './sender.ts';
import { type SecretOwner } from './seals.ts';
import { createSigner } from './signer.ts';

/** Slack's own limit for the age of a request. */
const maxRequestAgeSeconds = 5 * 60;

export interface SignedSlackRequest {
  /** The header X-Slack-Request-Timestamp. */
  readonly timestamp: string;
  /** The header X-Slack-Signature. */
  readonly signature: string;
  readonly body: Buffer;
}

/** Returns true if Slack has signed the request with this secret within the last five minutes. */
export function isSignedBySlack(
  signingSecret: string,
  { timestamp, signature, body }: SignedSlackRequest,
  nowSeconds = Date.now() / 1_000,
): boolean {
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > maxRequestAgeSeconds)
    return false;
  const digest = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(body).digest('hex');
  const [expected, received] = [Buffer.from(`v0=${digest}`), Buffer.from(signature)];
  return expected.length === received.length && timingSafeEqual(expected, received);
}

/** The id of a workspace or of a user. */
export const SlackId = z.string().regex(/^[A-Z0-9]{2,30}$/);

export interface SlackAccount {
  readonly teamId: string;
  readonly userId: string;
}

/** The id of the device that stands for a Slack account. */
export const slackDeviceIdOf = ({ teamId, userId }: SlackAccount): string => `slack-${teamId}-${userId}`;

export interface SlackAnswer {
  readonly orgId: string;
  readonly questionId: string;
  /** The index of the answer in the options of the question. */
  readonly option: number;
}

/** The content of a button, before its signature is verified. */
export interface ParsedSlackAnswer extends SlackAnswer {
  readonly signature: Buffer;
}

/** The time in minutes for which a link connects a Slack account. */
export const slackLinkMinutes = 10;

const AccountLink = z.object({
  teamId: SlackId,
  userId: SlackId,
  userName: z.string().max(80),
  /** Milliseconds since 1970. */
  expiresAt: z.int(),
});
export type SlackAccountLink = z.infer<typeof AccountLink>;

export interface SlackTokens {
  /** Returns the value of the button with this answer. */
  readonly valueOf: (organizationKey: Buffer, answer: SlackAnswer) => string;
  /** Parses the value of a button; undefined if it is malformed. The signature is not verified. */
  readonly parseValue: (value: string) => ParsedSlackAnswer | undefined;
  readonly isSigned: (organizationKey: Buffer, answer: ParsedSlackAnswer) => boolean;
  /** Returns the token of a link that connects a Slack account to a member of the organization. */
  readonly linkTokenOf: (organizationKey: Buffer, link: SlackAccountLink) => string;
  /** Parses the token of a link; undefined if it was not signed for this organization. It may have expired. */
  readonly openLinkToken: (organizationKey: Buffer, token: string) => SlackAccountLink | undefined;
}

const signatureBytes = 16;

/** Creates the functions. The first key signs, and any key verifies. */
export function createSlackTokens(keys: readonly string[]): SlackTokens {
  const answers = createSigner(keys, 'muster answers from Slack', signatureBytes);
  const links = createSigner(keys, 'muster links of Slack accounts', signatureBytes);
  const contentOf = ({ orgId, questionId, option }: SlackAnswer): Buffer =>
    Buffer.from(`${orgId}.${questionId}.${option}`);
  return {
    valueOf: (organizationKey, answer) => {
      const content = contentOf(answer);
      return `${content.toString()}.${answers.sign(organizationKey, content).toString('base64url')}`;
    },
    parseValue: (value) => {
      const [, orgId = '', questionId = '', option = '', signature = ''] =
        /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.(\d)\.([\w-]{22})$/.exec(value) ?? [];
      if (!isUuid(orgId) || !isUuid(questionId)) return undefined;
      return {
        ...{ orgId, questionId, option: Number(option) },
        signature: Buffer.from(signature, 'base64url'),
      };
    },
    isSigned: (organizationKey, { signature, ...answer }) =>
      answers.isSigned(organizationKey, contentOf(answer), signature),
    linkTokenOf: (organizationKey, link) => {
      const content = Buffer.from(Buffer.from(JSON.stringify(link)).toString('base64url'));
      return `${content.toString()}.${links.sign(organizationKey, content).toString('base64url')}`;
    },
    openLinkToken: (organizationKey, token) => {
      const [content = '', signature = ''] = token.split('.');
      if (!links.isSigned(organizationKey, Buffer.from(content), Buffer.from(signature, 'base64url')))
        return undefined;
      return AccountLink.parse(parseUntrustedJson(Buffer.from(content, 'base64url').toString()));
    },
  };
}

/** Names the owner of the encrypted address at which Slack accepts the response to a click. */
export const slackResponseSecretOwner = (organizationKey: Buffer): SecretOwner => ({
  organizationKey,
  name: 'Slack response address',
});

/** Returns true for the address at which Slack accepts the response to a click. */
export function isSlackResponseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, username, password } = new URL(text);
  return protocol === 'https:' && slackHosts.includes(host) && username === '' && password === '';
}

/** Sends the response to a click. Throws if another attempt can succeed. */
export async function sendSlackResponse(sender: Sender, url: string, body: string): Promise<void> {
  const { status } = await sender.post({ url, headers: chatHeaders, body });
  // An address that has expired or was used too often is refused for good.
  if (isTransientFailure(status)) throw new Error(`Slack answered ${status}`);
}
