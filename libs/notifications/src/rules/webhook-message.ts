/** The bodies of webhook messages, in the format of Standard Webhooks or of a chat service. */
import { chatBody } from '@muster/outbound/chat';
import {
  type ActivityItem,
  type AuditEntry,
  toOcsf,
  type WebhookFormat,
  webhookTestKind,
  webhookWithheldKind,
} from '@muster/contract';
import { consoleStoryLink } from './console-links.ts';
import { chatMessageOfEvent, chatTestMessage, withheldChatMessage } from './chat-events.ts';

/** The number of an event in the endpoint's own numbering. */
export interface EventPosition {
  readonly seq: number;
  /** The cursor with which `events.list` continues after the event. */
  readonly cursor: string;
}

/** The URL template of pages about an event's subject: `https://app.acme.example/{type}/{key}`. */
export type LinkTemplate = string | undefined;

type LinkedSubject = Pick<ActivityItem['subject'], 'type' | 'id' | 'key'>;

/** Returns the URL of a subject; null if the installation configured no template. */
export function subjectLink(
  template: LinkTemplate,
  { subject, projectId }: Pick<ActivityItem, 'projectId'> & { readonly subject: LinkedSubject },
): string | null {
  if (template === undefined) return null;
  const words: Readonly<Record<string, string | null>> = {
    type: subject.type,
    id: subject.id,
    key: subject.key ?? subject.id,
    projectId,
  };
  return template.replaceAll(/\{(\w+)\}/g, (_, word: string) => encodeURIComponent(words[word] ?? ''));
}

/** The format of a webhook, and the URL template of links in its messages. */
export interface MessageFormat {
  readonly format: WebhookFormat;
  readonly subjectUrl: LinkTemplate;
  /** The URL of the console, to which chat messages link if there is no template. */
  readonly consoleUrl?: string | undefined;
}

/** Returns the URL of a story in the console; null for other subjects. */
const storyLink = (consoleUrl: string | undefined, { type, key }: LinkedSubject): string | null =>
  consoleUrl === undefined || type !== 'story' || key === null ? null : consoleStoryLink(consoleUrl, key);

export const eventMessage = (
  event: ActivityItem,
  position: EventPosition,
  { format, subjectUrl, consoleUrl }: MessageFormat,
): string => {
  const url = subjectLink(subjectUrl, event);
  if (format !== 'standard')
    return chatBody(format, chatMessageOfEvent(event, url ?? storyLink(consoleUrl, event.subject)));
  return JSON.stringify({
    type: event.kind,
    timestamp: event.at,
    data: {
      ...position,
      actor: event.actor,
      projectId: event.projectId,
      subject: event.subject,
      data: event.data,
      url,
    },
  });
};

/**
 * Creates the replacement of an event that the endpoint's creator may no longer see, or of an audit entry that
 * is no longer kept. It has only the number and, for an event, the cursor.
 */
export const withheldMessage = (
  at: string,
  { seq, cursor }: { seq: number; cursor?: string },
  format: WebhookFormat = 'standard',
): string =>
  format === 'standard'
    ? JSON.stringify({ type: webhookWithheldKind, timestamp: at, data: { seq, cursor } })
    : chatBody(format, withheldChatMessage);

/**
 * Creates the message with an audit entry. Its data is the entry in OCSF, and the number as in all messages. An entry
 * that is missing is withheld.
 */
export const auditMessageOf = (
  entry: AuditEntry | undefined,
  { orgId, seq, at }: { readonly orgId: string; readonly seq: number; readonly at: string },
): string =>
  entry === undefined
    ? withheldMessage(at, { seq })
    : JSON.stringify({
        type: `audit.${entry.outcome}`,
        timestamp: entry.at,
        data: { seq, ...toOcsf(entry, { orgId, sequence: seq }) },
      });

export const testMessage = (at: string, webhookId: string, format: WebhookFormat): string =>
  format === 'standard'
    ? JSON.stringify({ type: webhookTestKind, timestamp: at, data: { webhookId } })
    : chatBody(format, chatTestMessage);
