/**
 * The notification rules: event → recipients, kind and text. They are defined only in this table. An event
 * without a rule notifies no member and costs nothing. If several drafts of one event include the same
 * member, the first one wins, so the more specific one comes first.
 */
import { type Actor, type EventKind, type NotificationKind, type Subject } from '@muster/contract';
import { type DomainEvent } from '@muster/tenancy';
import { applyRule, type EventRules, type RuleInput, subjectName, verdictVerbs } from './event-rules.ts';
import { excerpt } from './excerpts.ts';

/** The kinds of recipients, found by the ids of a draft. The queries are in data/recipients.ts. */
export type Recipients =
  /** The members whom the event names. They are notified even if their own agent acted. */
  | 'members'
  /** The members who own these agents; also if another agent of theirs acted. */
  | 'agents'
  /** The members who wrote in the thread of this comment. */
  | 'thread'
  /**
   * The members assigned to this story, and the owners of agents assigned to it; without any, its creator.
   */
  | 'assigned'
  /** The members assigned to this story or delivery group, and the owners of agents assigned to it. */
  | 'assignees'
  /** The member who asked this reviewer to review this story. */
  | 'asked_by'
  /** The leads of this project; without any, the owner and the admins. */
  | 'leads'
  /** The owner and the admins. */
  | 'heads'
  /** The owner and the admins, if no seat is left and they have no unread notification about it. */
  | 'out_of_seats'
  /** The members who review this story, and the owners of agents that do. */
  | 'reviewers'
  /** The members who follow this story. */
  | 'subscribers'
  /** The owner and the admins without an unread notification that deliveries of this connection fail. */
  | 'unaware_of_failing'
  /** The members to whom this broadcast is addressed. */
  | 'broadcast';

export interface NotificationDraft {
  readonly kind: NotificationKind;
  readonly recipients: Recipients;
  readonly ids: readonly string[];
  readonly title: string;
  readonly body: string;
  /** The record that the notification links to. */
  readonly subject: Omit<Subject, 'projectId'> | null;
  /**
   * The project that members must be able to see, now and later; null if the notification reveals nothing
   * about a project.
   */
  readonly projectId: string | null;
  /** The comment that the notification is about. If the comment is deleted, the notification is withdrawn. */
  readonly commentId?: string;
}

/** The kinds of notifications that a member who muted a story does not get about it. */
export const mutableKinds: readonly NotificationKind[] = [
  'comment_reply',
  'review_verdict',
  'unblocked',
  'merge_reverted',
  'subscribed',
];

type NotificationText = Pick<NotificationDraft, 'title' | 'body'>;

/** The maximum length of a notification's body. The record itself has the complete text. */
export const maxBodyLength = 280;

/** Returns the title as an additional line if the name is only a key. */
const subjectDetail = ({ key, title }: Subject): string => (key === null ? '' : title);

/**
 * Creates drafts about the event's subject, for members who may see the subject. Without ids the list is
 * empty.
 */
function createDrafts(
  kind: NotificationKind,
  recipients: Recipients,
  ids: readonly (string | null)[],
  { projectId, ...subject }: Subject,
  text: NotificationText,
): NotificationDraft[] {
  const named = ids.filter((id) => id !== null);
  return named.length === 0 ? [] : [{ kind, recipients, ids: named, subject, projectId, ...text }];
}

function mentionDrafts(
  { subject, actor }: RuleInput<EventKind>,
  mentions: readonly string[],
): NotificationDraft[] {
  const title = `${actor.name} mentioned you on ${subjectName(subject)}`;
  return createDrafts('mention', 'members', mentions, subject, { title, body: subjectDetail(subject) });
}

/**
 * Notifies the members responsible for the story about a question that is not addressed to a specific member.
 * If an agent asks, its owner is notified too.
 */
function openQuestionDrafts({ subject, actor }: RuleInput<EventKind>): NotificationDraft[] {
  const words = {
    title: `${actor.name} has a question on ${subjectName(subject)}`,
    body: subjectDetail(subject),
  };
  const owner = actor.agentId === null ? null : actor.memberId;
  return [
    ...createDrafts('mention', 'members', [owner], subject, words),
    ...createDrafts('mention', 'assigned', [subject.id], subject, words),
  ];
}

/** Notifies the members who follow the story. It comes last, so that more specific drafts take precedence. */
const subscriberDrafts = (subject: Subject, title: string, body?: string): NotificationDraft[] =>
  createDrafts('subscribed', 'subscribers', [subject.id], subject, {
    title,
    body: body ?? subjectDetail(subject),
  });

/** The names of statuses as people write them. */
const statusNames: Readonly<Record<string, string>> = {
  backlog: 'Backlog',
  ready: 'Ready',
  in_progress: 'In progress',
  in_review: 'In review',
  done: 'Done',
  canceled: 'Canceled',
};

const withCommentId = (commentId: string, drafts: readonly NotificationDraft[]): NotificationDraft[] =>
  drafts.map((draft) => ({ ...draft, commentId }));

/**
 * Notifies the owner and the admins that no seat is left, unless they have an unread notification about it.
 */
export const seatLimitDrafts = ({ subject }: { readonly subject: Subject }): NotificationDraft[] =>
  createDrafts('seat_limit', 'out_of_seats', [subject.id], subject, {
    title: 'All seats are taken',
    body: 'Free a seat or buy more seats to let others join.',
  });

/** The explanations of why an endpoint was paused. A pause by a caller needs none. */
const pauseExplanations: Readonly<Record<string, string>> = {
  failing: 'Ten delivery attempts in a row failed.',
  gone: 'The receiver answered that its address no longer exists (410).',
  maker_left: 'The member whose permissions the webhook used has left the organization.',
  secret_unreadable: 'The secret of the webhook can no longer be decrypted. Rotate the secret.',
};

/** Formats millionths of a currency, such as `1.50 USD`. */
const formatMicros = (micros: number, currency: string): string =>
  `${(micros / 1_000_000).toFixed(2)} ${currency}`;

const broadcastTitleByLevel: Readonly<Record<string, string>> = {
  warning: 'Warning',
  critical: 'Critical message',
};

const notificationRules: EventRules<NotificationDraft> = {
  'execution.superseded': ({ subject, data, actor }) =>
    createDrafts('lease_taken_over', 'members', [data.fromMemberId], subject, {
      title: data.joining
        ? `${actor.name} ended your expired lease on ${subjectName(subject)}`
        : `${actor.name} took over your work on ${subjectName(subject)}`,
      body: subjectDetail(subject),
    }),
  // The project was deleted, so the notification has no link and no project whose role could be checked.
  'execution.completed': ({ subject, data, actor }) =>
    createDrafts(
      'lease_taken_over',
      'members',
      [data.fromMemberId ?? null],
      { ...subject, projectId: null },
      {
        title: `${actor.name} deleted the project of ${subjectName(subject)}, which you were working on`,
        body: subjectDetail(subject),
      },
    ).map((draft) => ({ ...draft, subject: null })),
  'group.leaseAcquired': ({ subject, data, actor }) =>
    createDrafts('lease_taken_over', 'members', [data.fromMemberId], subject, {
      title: `${actor.name} took over as coordinator of ${subjectName(subject)}`,
      body: subjectDetail(subject),
    }),
  'lock.released': ({ subject, data, actor }) =>
    createDrafts('lock_taken_over', 'members', [data.fromMemberId], subject, {
      title: `${actor.name} released your lock on ${subjectName(subject)}`,
      body: '',
    }),
  'execution.offered': ({ subject, data, actor }) => {
    const words = {
      title: `${actor.name} offers you the work on ${subjectName(subject)}`,
      body: subjectDetail(subject),
    };
    return [
      ...createDrafts('handoff', 'members', [data.toMemberId], subject, words),
      ...createDrafts('handoff', 'agents', [data.toAgentId], subject, words),
    ];
  },

  'lease.expired': ({ subject, data }) => {
    const words = (whose: string): NotificationText => ({
      title: `${whose} lease on ${subjectName(subject)} has expired; others can take over the work`,
      body: subjectDetail(subject),
    });
    const theirs = `${data.holderName}’s`;
    return [
      ...createDrafts(
        'lease_expired',
        'members',
        [data.memberId],
        subject,
        words(data.agentId === null ? 'Your' : theirs),
      ),
      ...createDrafts('lease_expired', 'assignees', [subject.id], subject, words(theirs)),
    ];
  },

  'comment.created': (what) => {
    const { subject, data, actor } = what;
    const asks = data.kind === 'question' ? 'has a question for you' : 'addressed you';
    return withCommentId(data.commentId, [
      ...createDrafts('mention', 'members', [data.directedTo], subject, {
        title: `${actor.name} ${asks} on ${subjectName(subject)}`,
        body: subjectDetail(subject),
      }),
      ...createDrafts('mention', 'agents', [data.directedTo], subject, {
        title: `${actor.name} ${data.kind === 'question' ? 'has a question for' : 'addressed'} your agent on ${subjectName(subject)}`,
        body: subjectDetail(subject),
      }),
      ...mentionDrafts(what, data.mentions),
      ...(data.kind === 'question' && data.directedTo === null && data.parentId === null
        ? openQuestionDrafts(what)
        : []),
      ...createDrafts('comment_reply', 'thread', [data.parentId], subject, {
        title: `${actor.name} replied on ${subjectName(subject)}`,
        body: subjectDetail(subject),
      }),
      ...subscriberDrafts(subject, `${actor.name} commented on ${subjectName(subject)}`),
    ]);
  },
  // The event contains only the new mentions.
  'comment.updated': (what) => withCommentId(what.data.commentId, mentionDrafts(what, what.data.mentions)),

  'assignment.changed': ({ subject, data, actor }) => {
    const fresh = (id: string | null, previous: string | null) => [id === previous ? null : id];
    const words = (whom: string): NotificationText => ({
      title: `${actor.name} assigned ${subjectName(subject)} to ${whom}`,
      body: subjectDetail(subject),
    });
    return [
      ...createDrafts(
        'assigned',
        'members',
        fresh(data.memberId, data.previousMemberId),
        subject,
        words('you'),
      ),
      ...createDrafts(
        'assigned',
        'agents',
        fresh(data.agentId, data.previousAgentId),
        subject,
        words('your agent'),
      ),
    ];
  },

  'story.statusChanged': ({ subject, data, actor }) =>
    subscriberDrafts(
      subject,
      `${actor.name} moved ${subjectName(subject)} to ${statusNames[data.to] ?? data.to}`,
    ),

  'story.unblocked': ({ subject }) =>
    createDrafts('unblocked', 'assignees', [subject.id], subject, {
      title: `${subjectName(subject)} is no longer blocked`,
      body: subjectDetail(subject),
    }),

  'story.mergeReverted': ({ subject, data }) => {
    const by = data.number === null ? 'a pushed commit' : `pull request ${data.number}`;
    const words = {
      title: `The merged work on ${subjectName(subject)} was reverted by ${by}`,
      body: subjectDetail(subject),
    };
    return [
      ...createDrafts('merge_reverted', 'assigned', [subject.id], subject, words),
      ...createDrafts('merge_reverted', 'reviewers', [subject.id], subject, words),
      ...subscriberDrafts(subject, words.title, words.body),
    ];
  },

  'reviewer.added': ({ subject, data, actor }) => {
    const words = (whom: string): NotificationText => ({
      title: `${actor.name} asked ${whom} to review ${subjectName(subject)}`,
      body: subjectDetail(subject),
    });
    return [
      ...createDrafts('review_requested', 'members', [data.memberId], subject, words('you')),
      ...createDrafts('review_requested', 'agents', [data.agentId], subject, words('your agent')),
    ];
  },
  'review.decided': ({ subject, data, actor }) => {
    const said = verdictVerbs[data.verdict];
    if (said === undefined) return [];
    const words = {
      title: `${actor.name} ${said} ${subjectName(subject)}`,
      body: data.note === null ? subjectDetail(subject) : excerpt(data.note, maxBodyLength),
    };
    const reviewer = actor.agentId ?? actor.memberId;
    return [
      ...createDrafts('review_verdict', 'assigned', [subject.id], subject, words),
      ...(reviewer === null
        ? []
        : createDrafts('review_verdict', 'asked_by', [subject.id, reviewer], subject, words)),
      ...subscriberDrafts(subject, words.title, words.body),
    ];
  },

  'budget.warned': ({ subject, data }) => {
    const amount = formatMicros(data.amountMicros, data.currency);
    const words = {
      title: `${data.percent} % of the budget of ${amount} for ${subject.title} is used`,
      body:
        data.percent >= 100 && data.stops
          ? 'Agents were asked to stop. Raise the budget to let them continue.'
          : '',
    };
    return [
      ...createDrafts('budget_warning', 'members', [data.setById, data.memberId], subject, words),
      ...(subject.projectId === null
        ? []
        : createDrafts('budget_warning', 'leads', [subject.projectId], subject, words)),
      ...createDrafts('budget_warning', 'heads', [subject.id], subject, words),
    ];
  },

  'invitation.accepted': ({ subject, data, actor }) =>
    createDrafts('invitation_accepted', 'members', [data.invitedBy], subject, {
      title: `${actor.name} accepted your invitation`,
      body: '',
    }),

  'access.requested': ({ subject, data, actor }) =>
    createDrafts('access_requested', 'leads', [subject.projectId], subject, {
      title: `${actor.name} asks for access to ${subjectName(subject)} as ${data.role}`,
      body: subjectDetail(subject),
    }),
  'access.resolved': ({ subject, data, actor }) => {
    const approved = data.decision === 'approve';
    const words = (project: string): NotificationText => ({
      title: approved
        ? `${actor.name} gave you access to ${project} as ${data.role}`
        : `${actor.name} denied you access to ${project}`,
      body: '',
    });
    // A rejected member may not see the project, so the notification reveals no more than the member already
    // knew.
    const unnamed: Subject = { ...subject, key: null, title: 'a project', projectId: null };
    return [
      ...createDrafts('access_resolved', 'members', [data.memberId], subject, words(subjectName(subject))),
      ...(approved
        ? []
        : createDrafts(
            'access_resolved',
            'members',
            [data.memberId],
            unnamed,
            words('a project you asked for'),
          )),
    ];
  },

  'broadcast.posted': ({ subject, data, actor }) => {
    // The message of a broadcast is only for its recipients, so the event does not contain it.
    // writeNotifications reads the message.
    const words = { title: `${broadcastTitleByLevel[data.level] ?? 'Message'} from ${actor.name}`, body: '' };
    return createDrafts('broadcast', 'broadcast', [subject.id], subject, words);
  },

  'webhook.paused': ({ subject, data }) => {
    const because = pauseExplanations[data.reason];
    if (because === undefined) return [];
    const words = {
      title: `The webhook to ${subjectName(subject)} was paused`,
      body: `${because} No events are lost: they will be sent after you resume the webhook.`,
    };
    return [
      ...createDrafts('webhook_paused', 'members', [data.makerId], subject, words),
      ...createDrafts('webhook_paused', 'heads', [subject.id], subject, words),
    ];
  },

  'forge.deliveriesFailed': ({ subject }) =>
    createDrafts('forge_failing', 'unaware_of_failing', [subject.id], subject, {
      title: `Muster cannot read the webhook deliveries of ${subjectName(subject)}`,
      body: "Stories are not updated from the forge until this is fixed. The connection's settings show the error.",
    }),

  // The following events can occupy the last seat. The acceptance of an invitation is not among them, because
  // it uses the seat that the invitation reserved.
  'invitation.created': (what) => (what.data.role === 'viewer' ? [] : seatLimitDrafts(what)),
  'invitation.renewed': seatLimitDrafts,
  'member.roleChanged': (what) => (what.data.from === 'viewer' ? seatLimitDrafts(what) : []),
  'seats.changed': (what) => (what.data.to < what.data.from ? seatLimitDrafts(what) : []),
};

/** Returns the drafts of an event, the most specific first. */
export const draftsOf = (domainEvent: DomainEvent, actor: Actor): readonly NotificationDraft[] =>
  applyRule(notificationRules, domainEvent, actor);
