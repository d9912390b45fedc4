/** Tables of rules: for each kind of event, the drafts that follow from it. */
import { type Actor, type EventData, type EventKind, type Subject } from '@muster/contract';
import { type DomainEvent } from '@muster/tenancy';
import { excerpt } from './excerpts.ts';

export interface RuleInput<Kind extends EventKind> {
  readonly subject: Subject;
  readonly data: EventData<Kind>;
  readonly actor: Actor;
}

/** An event without a rule costs nothing. */
export type EventRules<Draft> = {
  readonly [Kind in EventKind]?: (input: RuleInput<Kind>) => readonly Draft[];
};

/**
 * Applies the rule for an event. Each rule is typed by the data of its kind, and `emit` checked that the event's
 * data matches. The list of events loses this relation between the two types, so it is asserted here.
 */
export function applyRule<Draft>(
  rules: EventRules<Draft>,
  { kind, subject, data }: DomainEvent,
  actor: Actor,
): readonly Draft[] {
  const rule = rules[kind] as ((input: object) => readonly Draft[]) | undefined;
  return rule?.({ subject, data, actor }) ?? [];
}

/** The name of an event's subject in a sentence: its key, or the beginning of its title. */
export const subjectName = ({ key, title }: Pick<Subject, 'key' | 'title'>): string =>
  key ?? excerpt(title, 80);

/** The verbs for the verdicts of reviewers. A verdict without a verb is mentioned to nobody. */
export const verdictVerbs: Readonly<Record<string, string>> = {
  approved: 'approved',
  changes_requested: 'requested changes on',
  commented: 'commented in the review of',
};
