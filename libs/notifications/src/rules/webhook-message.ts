/** What is sent: the body of a message, as Standard Webhooks shapes it. */
import { type ActivityItem, webhookTestKind, webhookWithheldKind } from '@muster/registry';

/** An event with its place in the endpoint's own count. */
export interface Numbered {
  readonly seq: number;
  /** Where `events.list` goes on from after it. */
  readonly cursor: string;
}

/** Where people see what an event is about: `https://app.acme.example/{type}/{key}`. */
export type LinkTemplate = string | undefined;

type Linked = Pick<ActivityItem['subject'], 'type' | 'id' | 'key'>;

/** The address of a subject; null where the installation named none. */
export function linkTo(
  template: LinkTemplate,
  { subject, projectId }: Pick<ActivityItem, 'projectId'> & { readonly subject: Linked },
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

export const eventMessage = (event: ActivityItem, numbered: Numbered, template: LinkTemplate): string =>
  JSON.stringify({
    type: event.kind,
    timestamp: event.at,
    data: {
      ...numbered,
      actor: event.actor,
      projectId: event.projectId,
      subject: event.subject,
      data: event.data,
      url: linkTo(template, event),
    },
  });

/** In place of an event that the endpoint's maker may not see any more: its number, and nothing of it. */
export const withheldMessage = (at: string, { seq, cursor }: Numbered): string =>
  JSON.stringify({ type: webhookWithheldKind, timestamp: at, data: { seq, cursor } });

export const testMessage = (at: string, webhookId: string): string =>
  JSON.stringify({ type: webhookTestKind, timestamp: at, data: { webhookId } });
