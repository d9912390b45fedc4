/** The job that responds to a click on an answer in Slack, at the address that Slack sent with the click. */
import { findAnsweredQuestion } from '@muster/board';
import { type Db } from '@muster/driver';
import { type PayloadOf } from '@muster/jobs';
import { consoleStoryLink, consoleUrlOf } from '@muster/notifications';
import { chatBody } from '@muster/outbound/chat';
import {
  isSlackResponseUrl,
  sendSlackResponse,
  slackLinkMinutes,
  slackResponseSecretOwner,
  type SlackTokens,
} from '@muster/outbound/slack';
import { getOrganizationKey } from '@muster/tenancy';
import { type DeliveryChannels } from './deliver.ts';
import { type RowWorker } from './perform.ts';

type SlackResponse = PayloadOf<'slack.respond'>['response'];

/** The maximum length of the question and of the answer in the message that replaces the buttons. */
const maxQuotedLength = 450;

const quote = (text: string): string =>
  text.length <= maxQuotedLength ? text : `${text.slice(0, maxQuotedLength - 1).toWellFormed()}…`;

interface BodyContext {
  readonly organizationKey: Buffer;
  readonly tokens: SlackTokens;
  readonly consoleUrl: string;
}

/** A response that only the person who clicked sees. */
const privateBody = (title: string, text: string, link: string | null): string =>
  chatBody('slack', { title, text, link }, { response_type: 'ephemeral', replace_original: false });

async function bodyOf(
  db: Db,
  response: SlackResponse,
  { organizationKey, tokens, consoleUrl }: BodyContext,
): Promise<string | undefined> {
  if (response.kind === 'refused') return privateBody('Your answer was not saved.', response.message, null);
  if (response.kind === 'connect') {
    const { kind: _, ...account } = response;
    const expiresAt = Date.now() + slackLinkMinutes * 60_000;
    const token = tokens.linkTokenOf(organizationKey, { ...account, expiresAt });
    return privateBody(
      'Connect your Slack account to Muster',
      `Your answer was not saved. Open the link within ${slackLinkMinutes} minutes, then choose the answer again.`,
      // Browsers do not send the fragment, so no log contains the token.
      `${consoleUrl}/settings/notifications#slack=${token}`,
    );
  }
  const question = await findAnsweredQuestion(db, response.questionId);
  if (question === undefined) return undefined;
  const { storyKey, author, body, resolvedBy, answer } = question;
  const footer = answer === null ? `Resolved by ${resolvedBy}` : `${resolvedBy}: ${quote(answer)}`;
  return chatBody(
    'slack',
    {
      title: `${author} had a question on ${storyKey}`,
      text: `${quote(body ?? '')}\n\n✅ ${footer}`,
      link: consoleStoryLink(consoleUrl, storyKey),
    },
    { replace_original: true },
  );
}

export const respondInSlack =
  ({
    chatSender,
    seals,
    slackTokens: tokens,
    baseUrl,
  }: Pick<DeliveryChannels, 'chatSender' | 'seals' | 'slackTokens' | 'baseUrl'>): RowWorker<
    PayloadOf<'slack.respond'>
  > =>
  async ({ db, payload: { responseUrl, response } }) => {
    if (tokens === undefined) return undefined;
    const organizationKey = await getOrganizationKey(db);
    const sealed = Buffer.from(responseUrl, 'base64');
    const url = seals.decrypt(slackResponseSecretOwner(organizationKey), sealed);
    if (url === undefined || !isSlackResponseUrl(url)) return undefined;
    const body = await bodyOf(db, response, { organizationKey, tokens, consoleUrl: consoleUrlOf(baseUrl) });
    if (body === undefined) return undefined;
    return async () => {
      await sendSlackResponse(chatSender, url, body);
      return undefined;
    };
  };
