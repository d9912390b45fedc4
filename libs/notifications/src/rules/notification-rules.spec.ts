import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Actor, type EventKind, eventKinds, type Subject } from '@muster/contract';
import { draftsOf } from './notification-rules.ts';

const subject: Subject = { type: 'story', id: newId(), key: 'WEB-1', title: 'Passkeys', projectId: newId() };
const ana: Actor = { kind: 'member', memberId: newId(), agentId: null, name: 'Ana' };

const drafts = (kind: EventKind, data: Record<string, unknown>, about = subject) =>
  draftsOf({ kind, subject: about, data }, ana);

const comment = { commentId: newId(), parentId: null, kind: 'comment', directedTo: null, mentions: [] };

describe('drafts', () => {
  it('are none for most of what happens', () => {
    const [who, by] = [newId(), newId()];
    const data = {
      ...comment,
      role: 'member',
      from: 'viewer',
      to: 1,
      verdict: 'approved',
      note: null,
      memberId: who,
      agentId: null,
      previousMemberId: null,
      previousAgentId: null,
      fromMemberId: by,
      toMemberId: who,
      toAgentId: null,
      mentions: [who],
      invitedBy: by,
      decision: 'approve',
      level: 'info',
      holderName: 'Robo',
    };
    const notifying = eventKinds.filter((kind) => drafts(kind, data).length > 0);
    expect(notifying.sort()).toEqual([
      'access.requested',
      'access.resolved',
      'assignment.changed',
      'broadcast.posted',
      'budget.warned',
      'comment.created',
      'comment.updated',
      'execution.completed',
      'execution.offered',
      'execution.superseded',
      'forge.deliveriesFailed',
      'group.leaseAcquired',
      'invitation.accepted',
      'invitation.created',
      'invitation.renewed',
      'lease.expired',
      'lock.released',
      'member.roleChanged',
      'review.decided',
      'reviewer.added',
      'story.mergeReverted',
      'story.statusChanged',
      'story.unblocked',
    ]);
  });

  it('put the more specific first', () => {
    const [asked, named, root] = [newId(), newId(), newId()];
    const all = drafts('comment.created', {
      ...comment,
      kind: 'question',
      directedTo: asked,
      mentions: [named],
      parentId: root,
    });
    expect(all.map(({ kind, recipients, ids, title }) => [kind, recipients, ids, title])).toEqual([
      ['mention', 'members', [asked], 'Ana has a question for you on WEB-1'],
      ['mention', 'agents', [asked], 'Ana has a question for your agent on WEB-1'],
      ['mention', 'members', [named], 'Ana mentioned you on WEB-1'],
      ['comment_reply', 'thread', [root], 'Ana replied on WEB-1'],
      ['subscribed', 'subscribers', [subject.id], 'Ana commented on WEB-1'],
    ]);
  });

  it('tell the owner of an agent, and those who have the story, of a question to no one in particular', () => {
    const asked = { ...comment, kind: 'question' as const, directedTo: null, mentions: [], parentId: null };
    expect(
      drafts('comment.created', asked).map(({ recipients, ids, title }) => [recipients, ids, title]),
    ).toEqual([
      ['assigned', [subject.id], 'Ana has a question on WEB-1'],
      ['subscribers', [subject.id], 'Ana commented on WEB-1'],
    ]);
    expect(
      drafts('comment.created', { ...asked, parentId: newId() }).map(({ recipients }) => recipients),
    ).toEqual(['thread', 'subscribers']);
  });

  it('name what has no key by its title', () => {
    const epic: Subject = { ...subject, type: 'epic', key: null, title: 'Accounts\nand more' };
    const changed = {
      memberId: newId(),
      agentId: null,
      previousMemberId: newId(),
      previousAgentId: null,
    };
    expect(drafts('assignment.changed', changed, epic)).toMatchObject([
      { title: 'Ana assigned Accounts and more to you', body: '', projectId: subject.projectId },
    ]);
  });

  it('are no secret of the project to who was turned away from it', () => {
    const denied = { accessRequestId: newId(), memberId: newId(), decision: 'deny', role: 'lead' };
    const [seeing, blind] = drafts('access.resolved', denied);
    expect(seeing).toMatchObject({ projectId: subject.projectId });
    expect(blind).toMatchObject({ projectId: null, ids: [denied.memberId] });
    expect(JSON.stringify(blind)).not.toMatch(/WEB|Passkeys/);
  });
});
