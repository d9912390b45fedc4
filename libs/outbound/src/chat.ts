/**
 * Messages for incoming webhooks of chat services: Block Kit for Slack, and an Adaptive Card for workflows of
 * Microsoft Teams. People write parts of the texts, so none of them can become a link or a mention.
 */
import { type ChatService } from '@muster/contract';
import { removeBidiControls } from './bidi.ts';
import { type Sender } from './sender.ts';

export interface ChatMessage {
  readonly title: string;
  /** The text below the title; may be empty. */
  readonly text: string;
  /** The page about the subject; null if there is none. */
  readonly link: string | null;
  /** Buttons that answer a question in Slack; absent if it cannot be answered there. */
  readonly answers?: readonly AnswerButton[];
}

export interface AnswerButton {
  readonly label: string;
  /** Comes back with the click. Slack allows 2,000 characters. */
  readonly value: string;
}

/** Both services reject longer texts: 3,000 characters for Slack, 28 KB for Teams. Escapes take up to 5 characters. */
const maxTitleLength = 300;
const maxTextLength = 1_000;

function clip(text: string, maxLength: number): string {
  const clean = removeBidiControls(text);
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** Escapes the characters with which mentions, links and entities of Slack begin. */
const escapeForSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** `verbatim` keeps Slack from turning addresses and names in the text into links and mentions. */
const slackSection = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });

const slackButton = (actionId: string, label: string, target: object) => ({
  ...{ type: 'button', action_id: actionId, text: { type: 'plain_text', text: label, emoji: false } },
  ...target,
});

/** The prefix of the action ids of buttons that answer a question. Slack requires a different id for each button. */
export const slackAnswerAction = 'muster-answer';

/** Also links to the page on which the question can be answered with any text. */
const slackAnswerButtons = (answers: readonly AnswerButton[], link: string | null) => ({
  type: 'actions',
  elements: [
    ...answers.map(({ label, value }, index) =>
      slackButton(`${slackAnswerAction}-${index}`, label, { value }),
    ),
    ...(link === null ? [] : [slackButton('muster-open', 'Answer in Muster', { url: link })]),
  ],
});

const bodyByService: Readonly<Record<ChatService, (message: ChatMessage) => object>> = {
  slack: ({ title, text, link, answers }) => {
    const escaped = escapeForSlack(title);
    return {
      text: escaped,
      blocks: [
        slackSection(link === null ? escaped : `<${link}|${escaped}>`),
        ...(text === '' ? [] : [slackSection(escapeForSlack(text))]),
        ...(answers === undefined ? [] : [slackAnswerButtons(answers, link)]),
      ],
    };
  },
  // Text runs, unlike text blocks, show Markdown as it was typed.
  teams: ({ title, text, link }) => {
    const paragraph = (run: object) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', ...run }] });
    return {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            fallbackText: title,
            body: [
              paragraph({ text: title, weight: 'Bolder' }),
              ...(text === '' ? [] : [paragraph({ text })]),
            ],
            actions: link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open in Muster', url: link }],
          },
        },
      ],
    };
  },
};

/** Returns the body of a request to the service's incoming webhook. `extra` are further fields of the body. */
export const chatBody = (
  service: ChatService,
  { title, text, ...message }: ChatMessage,
  extra: object = {},
): string =>
  JSON.stringify({
    ...bodyByService[service]({
      ...{ title: clip(title, maxTitleLength), text: clip(text, maxTextLength) },
      ...message,
    }),
    ...extra,
  });

export const chatHeaders = { 'content-type': 'application/json', 'user-agent': 'Muster-Webhooks' } as const;

export const slackHosts = ['hooks.slack.com', 'hooks.slack-gov.com'];
/** Hosts of workflows of Teams, each with all of its subdomains. The last ones are those of the older connectors. */
const teamsDomains = ['.logic.azure.com', '.api.powerplatform.com', '.webhook.office.com'];

/**
 * Returns the problem of a URL that a member gives for an own channel, or null. Unlike webhooks, which only leads and
 * admins create, such a URL must belong to the service.
 */
export function chatUrlRefusalReason(service: ChatService, url: string): string | null {
  const { protocol, host, hostname, pathname, username, password, hash } = new URL(url);
  if (protocol !== 'https:' || username !== '' || password !== '' || hash !== '' || host !== hostname)
    return 'must be an https URL on the default port, without user name, password and fragment';
  if (service === 'slack')
    return slackHosts.includes(host) && pathname.startsWith('/services/')
      ? null
      : 'must be the URL of an incoming webhook, such as https://hooks.slack.com/services/…';
  return teamsDomains.some((domain) => host.endsWith(domain))
    ? null
    : 'must be the URL of a workflow of Microsoft Teams, on logic.azure.com or api.powerplatform.com';
}

export type ChatOutcome =
  | 'sent'
  /** The channel or its webhook no longer exists. */
  | 'gone'
  /** The service rejects this message permanently. */
  | 'refused';

/** Returns true for a status after which another attempt can succeed. */
export const isTransientFailure = (status: number): boolean =>
  status < 200 || (status >= 300 && status < 400) || status >= 500 || [408, 425, 429].includes(status);

/** Sends a message to a channel. Throws if another attempt can succeed. */
export async function sendChatMessage(
  sender: Sender,
  service: ChatService,
  url: string,
  message: ChatMessage,
): Promise<ChatOutcome> {
  const { status } = await sender.post({ url, headers: chatHeaders, body: chatBody(service, message) });
  if (status >= 200 && status < 300) return 'sent';
  if (status === 404 || status === 410) return 'gone';
  if (!isTransientFailure(status)) return 'refused';
  throw new Error(`${service} answered ${status}`);
}
