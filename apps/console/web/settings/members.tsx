/** The members and invitations of the organization, with a form that invites one more. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Invitation, type Member } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { Avatar } from '../components/people.tsx';
import { ending, t } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { Choice, facts, Form, Item, Label, Listed, Opener, Section, useWrite } from './components.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { invitationsQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

type Given = Invitation['role'];
const { admin: _, ...withoutAdmin } = s.roles;
const given = ({ isOwner }: { readonly isOwner: boolean }) => {
  const { member, viewer } = withoutAdmin;
  return (isOwner ? { admin: s.roles.admin, member, viewer } : { member, viewer }) as Record<Given, string>;
};

function Invite({ onClose }: { readonly onClose: () => void }) {
  const client = useClient();
  const { member } = useIdentity();
  const projects = useQuery(projectsQuery(client));
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Given>('member');
  const [projectId, setProjectId] = useState('');
  const { isBusy, run } = useWrite();
  const invite = async (): Promise<boolean> => {
    const projectIds = projectId === '' ? [] : [projectId];
    const isDone = await run(
      () => client.members.invite({ email: email.trim(), role, projectIds }),
      s.members.invited(email.trim()),
    );
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form act={s.members.send} isBusy={isBusy} onSubmit={invite} onCancel={onClose}>
      <Label name={s.members.email} hint={s.members.inviteHint}>
        <input
          className="field"
          type="email"
          required
          maxLength={320}
          autoFocus
          autoComplete="off"
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
      </Label>
      <div className="form-row">
        <Choice
          label={s.role}
          value={role}
          words={given({ isOwner: member.role === 'owner' })}
          onChange={setRole}
        />
        <Choice
          label={s.project}
          value={projectId}
          words={{
            '': t.people.none,
            ...Object.fromEntries((projects.data ?? []).map(({ id, name }) => [id, name])),
          }}
          onChange={setProjectId}
        />
      </div>
    </Form>
  );
}

function Person({ member }: { readonly member: Member }) {
  const client = useClient();
  const me = useIdentity().member;
  const { run } = useWrite();
  const isOwner = me.role === 'owner';
  const isMine = member.id === me.id;
  const mayChange =
    useIsAdmin() && !isMine && member.role !== 'owner' && (isOwner || member.role !== 'admin');
  return (
    <Item
      lead={<Avatar name={member.name} kind="member" />}
      title={
        <>
          {member.name} {isMine && <span className="muted">({s.members.you})</span>}
        </>
      }
      fact={facts(`@${member.handle}`, member.email)}
    >
      {mayChange ? (
        <>
          <Choice
            label={s.members.roleOf(member.name)}
            isHidden
            value={member.role as Given}
            words={given({ isOwner })}
            onChange={(role) => void run(() => client.members.setRole({ memberId: member.id, role }))}
          />
          <Ask
            act={s.remove}
            about={member.name}
            title={s.members.removeTitle(member.name)}
            why={s.members.removeWhy}
            run={() => run(() => client.members.removeMember({ memberId: member.id }))}
          />
        </>
      ) : (
        <span className="muted">{s.roles[member.role]}</span>
      )}
    </Item>
  );
}

function Invited({ invitation }: { readonly invitation: Invitation }) {
  const { invitations } = useClient();
  const { isBusy, run } = useWrite();
  const { id: invitationId, email, role, state, expiresAt } = invitation;
  return (
    <Item
      lead={<Avatar name={email} kind="member" />}
      title={email}
      fact={facts(
        s.roles[role],
        state === 'pending' ? s.members.pending(ending(expiresAt)) : s.members.expired,
      )}
    >
      <button
        type="button"
        className="button"
        data-kind="quiet"
        disabled={isBusy}
        onClick={() => void run(() => invitations.resend({ invitationId }), s.members.resent(email))}
      >
        {s.members.resend}
        <span className="sr-only"> {email}</span>
      </button>
      {state === 'pending' && (
        <button
          type="button"
          className="button"
          data-kind="quiet"
          disabled={isBusy}
          onClick={() => void run(() => invitations.revoke({ invitationId }))}
        >
          {s.members.revoke}
          <span className="sr-only"> {email}</span>
        </button>
      )}
    </Item>
  );
}

export function Members() {
  const client = useClient();
  const isAdmin = useIsAdmin();
  const [isInviting, setInviting] = useState(false);
  const [text, setText] = useState('');
  const members = useQuery(membersQuery(client));
  const invitations = useQuery({ ...invitationsQuery(client), enabled: isAdmin });
  const wanted = text.trim().toLocaleLowerCase();
  const found = members.data?.filter(({ name, email, handle }) =>
    `${name} ${email} ${handle}`.toLocaleLowerCase().includes(wanted),
  );
  return (
    <>
      <Section
        id="members"
        title={s.sections.members}
        intro={s.members.intro}
        act={isAdmin && !isInviting && <Opener name={s.members.invite} onOpen={() => setInviting(true)} />}
      >
        {isInviting && <Invite onClose={() => setInviting(false)} />}
        {(members.data?.length ?? 0) > 10 && (
          <input
            className="field"
            type="search"
            aria-label={s.members.find}
            placeholder={s.members.find}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        <Listed query={{ ...members, data: found }} empty={s.members.empty}>
          {(member) => <Person key={member.id} member={member} />}
        </Listed>
      </Section>
      {(invitations.data?.length ?? 0) > 0 && (
        <Section id="invitations" title={s.members.invitations}>
          <Listed query={invitations} empty="">
            {(invitation) => <Invited key={invitation.id} invitation={invitation} />}
          </Listed>
        </Section>
      )}
    </>
  );
}
