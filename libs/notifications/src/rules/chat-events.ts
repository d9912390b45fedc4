/**
 * Texts about events for channels of chat services. The readers are everyone in a channel, so the texts address no
 * one. Kinds without a text of their own are named as they are.
 */
import { type ActivityItem, type EventData, type EventKind, webhookTestKind } from '@muster/contract';
import { type ChatMessage } from '@muster/outbound/chat';
import { subjectName, verdictVerbs } from './event-rules.ts';
import { excerpt } from './excerpts.ts';

/** Writes what happened, as the continuation of the actor's name. */
type Predicate<Kind extends EventKind> = (name: string, data: EventData<Kind>) => string;

const predicates: { readonly [Kind in EventKind]?: Predicate<Kind> } = {
  'comment.created': (name, { kind }) =>
    kind === 'question' ? `has a question on ${name}` : `commented on ${name}`,
  'reviewer.added': (name) => `requested a review of ${name}`,
  'review.decided': (name, { verdict }) => `${verdictVerbs[verdict] ?? 'reviewed'} ${name}`,
  'assignment.changed': (name) => `changed who works on ${name}`,
  'assignment.cleared': (name) => `left ${name} without an assignee`,
  'execution.offered': (name) => `offers the work on ${name}`,
  'execution.stopRequested': (name) => `requested a stop of the work on ${name}`,
  'execution.superseded': (name) => `took over the work on ${name}`,
  'execution.submitted': (name) => `submitted the work on ${name}`,
  'story.created': (name) => `created ${name}`,
  'story.statusChanged': (name, { to }) => `moved ${name} to ${to.replaceAll('_', ' ')}`,
  'access.requested': (name, { role }) => `asks for access to ${name} as ${role}`,
};

/** Writes what happened without an actor. */
const sentences: { readonly [Kind in EventKind]?: Predicate<Kind> } = {
  'story.mergeReverted': (name) => `The merged work on ${name} was reverted`,
  'story.unblocked': (name) => `${name} is no longer blocked`,
  'lease.expired': (name, { holderName }) => `The lease of ${holderName} on ${name} has expired`,
  'budget.warned': (name, { percent }) => `${percent} % of the budget for ${name} is used`,
  'forge.deliveriesFailed': (name) => `Muster cannot read the webhook deliveries of ${name}`,
  'webhook.paused': (name) => `The webhook to ${name} was paused`,
};

/** Writes a kind as words: `group.stateChanged` as `group state changed`. */
const describeKind = (kind: string): string =>
  kind.replaceAll('.', ' ').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

type Event = Pick<ActivityItem, 'kind' | 'actor' | 'subject' | 'data'>;

/** The contract checked the data of an event by its kind when it was emitted; the activity's type does not say so. */
const applyPhrase = (
  table: { readonly [Kind in EventKind]?: Predicate<Kind> },
  { kind, subject, data }: Event,
): string | undefined =>
  (table[kind as EventKind] as ((name: string, data: unknown) => string) | undefined)?.(
    subjectName(subject),
    data,
  );

export function chatMessageOfEvent(event: Event, link: string | null): ChatMessage {
  const { actor, subject, kind } = event;
  const predicate = applyPhrase(predicates, event);
  const title =
    applyPhrase(sentences, event) ??
    (predicate === undefined
      ? `${actor.name}: ${describeKind(kind)} (${subjectName(subject)})`
      : `${actor.name} ${predicate}`);
  return { title, text: subject.key === null ? '' : excerpt(subject.title, 200), link };
}

export const chatTestMessage: ChatMessage = {
  title: 'Muster can send messages to this channel.',
  text: `This is a test (${webhookTestKind}).`,
  link: null,
};

export const withheldChatMessage: ChatMessage = {
  title: 'Something happened that the creator of this webhook may no longer see.',
  text: '',
  link: null,
};
